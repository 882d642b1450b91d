// Scores of tasks.
#include "data/task_score.h"

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

double above_chance(double accuracy, double chance) { return (accuracy - chance) / (1 - chance); }

}  // namespace rondo
