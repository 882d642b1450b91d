// Words that the rule and the text of a plan share.
#pragma once

#include <string>

#include "cost/loops.h"

namespace rondo {

/// "(8, 2)": T and B, with three digits where they are real.
std::string pair_text(const LoopCount& loops);

/// "0.0123", and "3e-05" where that would be 0.0000. In nats.
std::string nats_text(double nats);

/// "+12.3 %": a relative change.
std::string change_text(double change);

}  // namespace rondo
