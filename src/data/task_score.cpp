// Scores of tasks.
#include "data/task_score.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "data/batches.h"

namespace rondo {

void TaskScore::add(std::span<const std::int32_t> targets,
                    std::span<const std::int32_t> predicted) {
  require(targets.size() == predicted.size(), "{} predictions for {} targets", predicted.size(),
          targets.size());
  std::int64_t supervised = 0;
  std::int64_t right = 0;
  bool last = false;
  for (std::size_t t = 0; t < targets.size(); ++t) {
    if (targets[t] == kNoTarget) continue;
    last = targets[t] == predicted[t];
    ++supervised;
    right += last ? 1 : 0;
  }
  require(supervised > 0, "an example without supervised target cannot be scored");
  ++examples;
  tokens += supervised;
  tokens_right += right;
  final_right += last ? 1 : 0;
  sequences_right += right == supervised ? 1 : 0;
  right_right += right * right;
  right_tokens += right * supervised;
  tokens_tokens += supervised * supervised;
}

double TaskScore::value(const Task& task, TaskMetric metric) const {
  if (examples == 0) return 0;
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  if (metric == TaskMetric::accuracy_sequence) return share(sequences_right, examples);
  if (metric == TaskMetric::accuracy && task.final_label) return share(final_right, examples);
  return share(tokens_right, tokens);
}

double TaskScore::error(const Task& task, TaskMetric metric) const {
  if (examples < 2) return std::numeric_limits<double>::quiet_NaN();
  const auto n = static_cast<double>(examples);
  const double share = value(task, metric);
  const bool of_examples = metric == TaskMetric::accuracy_sequence ||
                           (metric == TaskMetric::accuracy && task.final_label);
  if (of_examples) return std::sqrt(share * (1 - share) / (n - 1));
  // A ratio of sums: its error follows from the residuals right − share · tokens of the examples.
  const double squares = static_cast<double>(right_right) -
                         2 * share * static_cast<double>(right_tokens) +
                         share * share * static_cast<double>(tokens_tokens);
  return std::sqrt(std::max(0.0, squares) * n / (n - 1)) / static_cast<double>(tokens);
}

double above_chance(double accuracy, double chance) { return (accuracy - chance) / (1 - chance); }

}  // namespace rondo
