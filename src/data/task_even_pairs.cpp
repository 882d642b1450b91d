// Even pairs (arXiv 2207.02098): whether the number of neighbours that differ is odd.
#include "data/task_generators.h"

namespace rondo {
namespace {

TaskSample generate_even_pairs(Draws& draws, TaskRange lengths) {
  const std::int64_t length = draws.within(lengths);
  std::string text;
  bool odd = false;
  for (std::int64_t i = 0; i < length; ++i) {
    text += draws.below(2) == 1 ? 'b' : 'a';
    if (i > 0 && text[text.size() - 1] != text[text.size() - 2]) odd = !odd;
  }
  return label_sample(text, odd ? '1' : '0');
}

}  // namespace

Task even_pairs_task() {
  Task task{.name = "even-pairs", .summary = "whether ab and ba occur an odd number of times"};
  set_label_protocol(task);
  task.shortest = 2;
  task.generate = generate_even_pairs;
  task.rates = [](TaskRange, TaskMetric) { return TaskRates{.chance = 0.5, .majority = 0.5}; };
  return task;
}

}  // namespace rondo
