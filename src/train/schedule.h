// The learning rate as a pure function of the step.
#pragma once

#include <cstdint>

#include "config/config.h"

namespace rondo {

/// Learning rate of step 1 … steps. All schedules rise linearly over warmup_steps and reach
/// learning_rate in step `warmup_steps`; then, with m = min_learning_rate:
///   cosine    half a cosine down to m in the last step
///   linear    a line down to m in the last step
///   wsd       constant, then a line down to m over the last decay_steps
///   constant  constant
double learning_rate_at(const TrainConfig& train, std::int64_t step);

/// The RLT's feedback interval in step `step` (from 1): train.feedback_schedule in equal parts of
/// train.steps, or the model's own.
std::int64_t feedback_interval_at(const Config& config, std::int64_t step);

}  // namespace rondo
