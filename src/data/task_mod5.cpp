// Arithmetic modulo 5, flat and with brackets, generated as in arXiv 2207.02098.
#include <array>

#include "data/task_generators.h"

namespace rondo {
namespace {

/// Probability of each value 0 … 4.
using Values = std::array<double, 5>;
constexpr Values kUniformValues = {0.2, 0.2, 0.2, 0.2, 0.2};

constexpr std::string_view kOperators = "+-*";

std::size_t apply_mod5(std::size_t op, std::size_t left, std::size_t right) {
  if (op == 0) return (left + right) % 5;
  if (op == 1) return (left + 5 - right) % 5;
  return left * right % 5;
}

/// Operands and operators one after the other, the value kept as a sum and the product in hand.
TaskSample generate_flat(Draws& draws, TaskRange lengths) {
  const std::int64_t operands =
      draws.within({.min = (lengths.min + 1) / 2, .max = (lengths.max + 1) / 2});
  std::string text;
  std::int64_t sum = 0;
  std::int64_t product = 0;
  for (std::int64_t i = 0; i < operands; ++i) {
    const std::int64_t op = i == 0 ? 0 : draws.below(3);
    const std::int64_t digit = draws.below(5);
    if (i > 0) text += kOperators[static_cast<std::size_t>(op)];
    text += static_cast<char>('0' + digit);
    if (op == 2) {
      product = product * digit % 5;
    } else {
      sum = (sum + product) % 5;
      product = op == 0 ? digit : (5 - digit) % 5;
    }
  }
  return label_sample(text, static_cast<char>('0' + (sum + product) % 5));
}

/// The same with probabilities, over (sum, product in hand).
std::vector<double> flat_distribution(std::int64_t length) {
  std::array<Values, 5> state{};
  state[0] = kUniformValues;
  for (std::int64_t i = 1; i < (length + 1) / 2; ++i) {
    std::array<Values, 5> next{};
    for (std::size_t sum = 0; sum < 5; ++sum)
      for (std::size_t product = 0; product < 5; ++product)
        for (std::size_t digit = 0; digit < 5; ++digit) {
          const double share = state[sum][product] / 15;
          next[(sum + product) % 5][digit] += share;
          next[(sum + product) % 5][(5 - digit) % 5] += share;
          next[sum][product * digit % 5] += share;
        }
    state = next;
  }
  std::vector<double> values(5);
  for (std::size_t sum = 0; sum < 5; ++sum)
    for (std::size_t product = 0; product < 5; ++product)
      values[(sum + product) % 5] += state[sum][product];
  return values;
}

/// Appends a random expression of exactly `length` characters and returns its value.
std::size_t grow_tree(Draws& draws, std::int64_t length, std::string& text) {
  if (length <= 4) {
    const auto digit = static_cast<std::size_t>(draws.below(5));
    const bool minus = length % 2 == 0;
    const bool brackets = length >= 3;
    if (brackets) text += '(';
    if (minus) text += '-';
    text += static_cast<char>('0' + digit);
    if (brackets) text += ')';
    return minus ? (5 - digit) % 5 : digit;
  }
  const std::int64_t left_length = 1 + draws.below(length - 4);
  const auto op = static_cast<std::size_t>(draws.below(3));
  text += '(';
  const std::size_t left = grow_tree(draws, left_length, text);
  text += kOperators[op];
  const std::size_t right = grow_tree(draws, length - left_length - 3, text);
  text += ')';
  return apply_mod5(op, left, right);
}

TaskSample generate_brackets(Draws& draws, TaskRange lengths) {
  const std::int64_t length = draws.within(lengths);
  std::string text;
  const std::size_t value = grow_tree(draws, length, text);
  return label_sample(text, static_cast<char>('0' + value));
}

/// Values of trees of every length up to `length`.
std::vector<Values> tree_values(std::int64_t length) {
  const auto longest = static_cast<std::size_t>(length);
  std::vector<Values> values(longest + 1, kUniformValues);
  for (std::size_t n = 5; n <= longest; ++n) {
    std::array<Values, 5> pairs{};
    for (std::size_t left = 1; left <= n - 4; ++left)
      for (std::size_t a = 0; a < 5; ++a)
        for (std::size_t b = 0; b < 5; ++b)
          pairs[a][b] += values[left][a] * values[n - left - 3][b];
    values[n] = {};
    for (std::size_t op = 0; op < 3; ++op)
      for (std::size_t a = 0; a < 5; ++a)
        for (std::size_t b = 0; b < 5; ++b)
          values[n][apply_mod5(op, a, b)] += pairs[a][b] / (3 * static_cast<double>(n - 4));
  }
  return values;
}

}  // namespace

Task mod5_flat_task() {
  Task task{.name = "mod5-flat", .summary = "value modulo 5 of digits joined by + - *"};
  set_label_protocol(task);
  task.odd_lengths = true;
  task.training = {.min = 3, .max = 39};
  task.validation = sets_of({33, 35, 39}, 256);
  task.test = sets_of({31, 39, 47, 63, 95, 127, 191, 255}, 1024);
  task.generate = generate_flat;
  task.rates = [plain = task](TaskRange lengths, TaskMetric) {
    return label_rates(plain, lengths, flat_distribution);
  };
  return task;
}

Task mod5_brackets_task() {
  Task task{.name = "mod5-brackets", .summary = "value modulo 5 of a tree of + - * in brackets"};
  set_label_protocol(task);
  task.generate = generate_brackets;
  task.rates = [plain = task](TaskRange lengths, TaskMetric) {
    const auto values = tree_values(lengths.max);
    return label_rates(plain, lengths, [&](std::int64_t length) {
      const Values& at = values[static_cast<std::size_t>(length)];
      return std::vector<double>(at.begin(), at.end());
    });
  };
  return task;
}

}  // namespace rondo
