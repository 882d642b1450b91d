// Parity: whether the number of ones is odd.
#include "data/task_generators.h"

namespace rondo {
namespace {

TaskSample generate_parity(Draws& draws, TaskRange lengths) {
  const std::int64_t length = draws.within(lengths);
  std::string text;
  bool odd = false;
  for (std::int64_t i = 0; i < length; ++i) {
    const bool one = draws.below(2) == 1;
    text += one ? '1' : '0';
    odd ^= one;
  }
  return label_sample(text, odd ? '1' : '0');
}

/// The same example, with the label of the bits so far as the target of every one of them.
TaskSample generate_prefix_parity(Draws& draws, TaskRange lengths) {
  TaskSample sample = generate_parity(draws, lengths);
  bool odd = false;
  for (std::size_t t = 1; t + 1 < sample.tokens.size(); ++t) {
    odd ^= sample.tokens[t] == '1';
    sample.targets[t] = odd ? '1' : '0';
  }
  return sample;
}

}  // namespace

Task prefix_parity_task() {
  Task task = parity_task();
  task.generate = generate_prefix_parity;
  task.metrics = {TaskMetric::accuracy, TaskMetric::accuracy_prefix};
  return task;
}

Task parity_task() {
  Task task{.name = "parity", .summary = "whether the number of ones is odd"};
  set_label_protocol(task);
  task.generate = generate_parity;
  task.rates = [](TaskRange, TaskMetric) { return TaskRates{.chance = 0.5, .majority = 0.5}; };
  return task;
}

}  // namespace rondo
