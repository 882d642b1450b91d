// The dial `size`: width, heads, layers and learning rate that go together.
#pragma once

#include "config/config.h"

namespace rondo {

/// Sets what the dial sets; everything else stays.
void apply_size(Size size, Config& config);

}  // namespace rondo
