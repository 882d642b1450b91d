// Counting right answers of tasks, and accuracy above chance.
#pragma once

#include <cstdint>
#include <span>

#include "data/task.h"

namespace rondo {

/// Right answers over examples.
struct TaskScore {
  std::int64_t examples = 0;
  std::int64_t tokens = 0;  ///< supervised
  std::int64_t tokens_right = 0;
  std::int64_t final_right = 0;      ///< examples whose last supervised token is right
  std::int64_t sequences_right = 0;  ///< examples without a mistake
  /// Sums over examples of products of their right and supervised tokens, for the standard error.
  std::int64_t right_right = 0, right_tokens = 0, tokens_tokens = 0;

  /// Adds an example: predicted[t] against targets[t] where that is supervised. Throws an input
  /// error when sizes differ or nothing is supervised.
  void add(std::span<const std::int32_t> targets, std::span<const std::int32_t> predicted);
  /// In [0, 1]; 0 before the first example.
  [[nodiscard]] double value(const Task& task, TaskMetric metric) const;
  /// Standard error of the value: examples are independent, tokens of one example are not. NaN
  /// below two examples.
  [[nodiscard]] double error(const Task& task, TaskMetric metric) const;
};

/// 0 at chance, 1 when all is right, below 0 under chance: (accuracy − chance) / (1 − chance).
double above_chance(double accuracy, double chance);

}  // namespace rondo
