// Whether parity is learned when the published runs learn it.
#pragma once

#include <span>

#include "plan/rlt_study.h"

namespace rondo {

/// Judges every model of `layers` layers with three seeds here; not testable at another depth than
/// the published one, or when no model has three seeds that go as far as the shortest of its
/// published curves.
Judgement judge_parity_course(std::span<const RltResult> results, std::int64_t layers);

}  // namespace rondo
