// Cycle navigation (arXiv 2207.02098): the place on a circle of five after steps of −1, 0 and +1.
#include "data/task_generators.h"

namespace rondo {
namespace {

constexpr std::int64_t kPlaces = 5;

TaskSample generate_cycle(Draws& draws, TaskRange lengths) {
  const std::int64_t length = draws.within(lengths);
  std::string text;
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < length; ++i) {
    const std::int64_t move = draws.below(3);
    text += "-0+"[move];
    sum += move - 1;
  }
  const std::int64_t place = (sum % kPlaces + kPlaces) % kPlaces;
  return label_sample(text, static_cast<char>('0' + place));
}

std::vector<double> cycle_distribution(std::int64_t length) {
  std::vector<double> now = {1, 0, 0, 0, 0};
  for (std::int64_t i = 0; i < length; ++i) {
    const std::vector<double> old = now;
    for (std::size_t p = 0; p < 5; ++p) now[p] = (old[(p + 4) % 5] + old[p] + old[(p + 1) % 5]) / 3;
  }
  return now;
}

}  // namespace

Task cycle_task() {
  Task task{.name = "cycle", .summary = "place on a circle of five after steps - 0 +"};
  set_label_protocol(task);
  task.generate = generate_cycle;
  task.rates = [plain = task](TaskRange lengths, TaskMetric) {
    return label_rates(plain, lengths, cycle_distribution);
  };
  return task;
}

}  // namespace rondo
