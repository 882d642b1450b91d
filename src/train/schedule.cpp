// The four schedules.
#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rondo {

double learning_rate_at(const TrainConfig& train, std::int64_t step) {
  const double peak = train.learning_rate, low = train.min_learning_rate;
  if (step < train.warmup_steps)
    return peak * static_cast<double>(step) / static_cast<double>(train.warmup_steps);

  // Share of the way down that lies behind, from `begin` (0) to the last step (1).
  const auto progress = [&](std::int64_t begin) {
    if (train.steps <= begin) return 0.0;
    const double way = static_cast<double>(step - begin) / static_cast<double>(train.steps - begin);
    return std::clamp(way, 0.0, 1.0);
  };
  switch (train.schedule) {
    case ScheduleKind::kCosine:
      return low +
             (peak - low) * 0.5 * (1.0 + std::cos(std::numbers::pi * progress(train.warmup_steps)));
    case ScheduleKind::kLinear:
      return peak + (low - peak) * progress(train.warmup_steps);
    case ScheduleKind::kWsd:
      return peak + (low - peak) * progress(train.steps - train.decay_steps);
    case ScheduleKind::kConstant:
      return peak;
  }
  return peak;
}

std::int64_t feedback_interval_at(const Config& config, std::int64_t step) {
  const auto& intervals = config.train.feedback_schedule;
  if (intervals.empty()) return config.model.feedback_interval;
  const auto parts = static_cast<std::int64_t>(intervals.size());
  const auto part = std::min(parts - 1, (step - 1) * parts / config.train.steps);
  return intervals[static_cast<std::size_t>(part)];
}

}  // namespace rondo
