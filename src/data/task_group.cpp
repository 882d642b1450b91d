// Word problems of groups: the running product after every input.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/batches.h"
#include "data/task_generators.h"
#include "data/task_tokens.h"

namespace rondo {
namespace {

/// A group and what its inputs are drawn from.
struct WordProblem {
  Group group;
  std::vector<int> alphabet;
};

std::string number_list(const std::vector<std::int32_t>& ids) {
  std::string text;
  for (std::size_t t = 1; t < ids.size(); ++t)
    text += fmt::format("{}{}", t > 1 ? " " : "", ids[t]);
  return text;
}

TaskSample generate_word(const WordProblem& problem, Draws& draws, TaskRange lengths) {
  TaskSample sample;
  sample.length = draws.within(lengths);
  sample.tokens = {kTaskBos};
  sample.targets = {kNoTarget};
  int state = 0;
  for (std::int64_t i = 0; i < sample.length; ++i) {
    const auto pick = draws.below(static_cast<std::int64_t>(problem.alphabet.size()));
    const int next = problem.alphabet[static_cast<std::size_t>(pick)];
    state = problem.group.product(state, next);
    sample.tokens.push_back(next);
    sample.targets.push_back(state);
  }
  sample.input = number_list(sample.tokens);
  sample.target = number_list(sample.targets);
  return sample;
}

/// One more uniform input: probabilities of the product.
std::vector<double> walk_step(const WordProblem& problem, const std::vector<double>& old) {
  std::vector<double> next(old.size());
  const double share = 1.0 / static_cast<double>(problem.alphabet.size());
  for (std::size_t a = 0; a < old.size(); ++a)
    for (const int x : problem.alphabet)
      next[static_cast<std::size_t>(problem.group.product(static_cast<int>(a), x))] +=
          old[a] * share;
  return next;
}

/// Sums over the lengths: of the final product's probabilities, or of those of every product.
TaskRates walk_rates(const WordProblem& problem, TaskRange lengths, bool every) {
  const auto order = static_cast<std::size_t>(problem.group.order);
  const double chance = 1.0 / static_cast<double>(order);
  // Inputs uniform over the group make every product uniform.
  if (problem.alphabet.size() == order) return {.chance = chance, .majority = chance};
  std::vector<double> now(order);
  now[0] = 1;
  std::vector<double> sum(order);
  double count = 0;
  for (std::int64_t t = 1; t <= lengths.max; ++t) {
    now = walk_step(problem, now);
    const std::int64_t longer = lengths.max - std::max(t, lengths.min) + 1;
    const double weight =
        every ? static_cast<double>(longer) : static_cast<double>(t >= lengths.min ? 1 : 0);
    for (std::size_t a = 0; a < order; ++a) sum[a] += weight * now[a];
    count += weight;
  }
  return {.chance = chance, .majority = *std::max_element(sum.begin(), sum.end()) / count};
}

/// Whole sequences: one of as many as there are products, or inputs, for each length.
TaskRates sequence_rates(const WordProblem& problem, TaskRange lengths) {
  TaskRates rates;
  for (std::int64_t length = lengths.min; length <= lengths.max; ++length) {
    rates.chance += std::pow(1.0 / problem.group.order, static_cast<double>(length));
    rates.majority +=
        std::pow(1.0 / static_cast<double>(problem.alphabet.size()), static_cast<double>(length));
  }
  const auto count = static_cast<double>(lengths.max - lengths.min + 1);
  return {.chance = rates.chance / count, .majority = rates.majority / count};
}

}  // namespace

Task group_task(const std::string& name, const Group& group, std::vector<int> alphabet,
                const std::string& summary) {
  WordProblem problem{.group = group, .alphabet = std::move(alphabet)};
  if (problem.alphabet.empty()) {
    problem.alphabet.resize(static_cast<std::size_t>(group.order));
    std::iota(problem.alphabet.begin(), problem.alphabet.end(), 0);
  }
  Task task{.name = name, .summary = summary};
  task.training = {.min = 32, .max = 32};
  task.validation = sets_of({32}, 256);
  task.test = sets_of({32, 48, 64, 96, 128, 192, 256, 512}, 1024);
  task.metrics = {TaskMetric::accuracy, TaskMetric::accuracy_prefix, TaskMetric::accuracy_sequence};
  task.rates = [problem](TaskRange lengths, TaskMetric metric) {
    if (metric == TaskMetric::accuracy_sequence) return sequence_rates(problem, lengths);
    return walk_rates(problem, lengths, metric == TaskMetric::accuracy_prefix);
  };
  task.generate = [problem = std::move(problem)](Draws& draws, TaskRange lengths) {
    return generate_word(problem, draws, lengths);
  };
  return task;
}

}  // namespace rondo
