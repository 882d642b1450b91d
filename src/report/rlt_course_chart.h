// Parity learned over the steps of training, every seed of ours beside every published one.
#pragma once

#include <optional>
#include <span>

#include "plan/rlt_study.h"
#include "report/chart.h"

namespace rondo {

/// A model at a time, to be chosen. Nothing when none of the results has published runs.
std::optional<Chart> rlt_course_chart(std::span<const RltResult> results);

}  // namespace rondo
