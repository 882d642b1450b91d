// Addition of decimal numbers, digits least significant first: "[51] + [7] = [22]" is 15 + 7 = 22.
#include <algorithm>
#include <array>

#include "data/task_generators.h"

namespace rondo {
namespace {

/// Digits, space, brackets, EOS: what an answer is made of.
constexpr double kAnswerIds = 14;
/// Space, opening and closing bracket, EOS.
constexpr double kFrame = 4;

/// A number of exactly `width` digits, the least significant first; 0 has width 1.
std::string draw_number(Draws& draws, std::int64_t width) {
  std::string digits;
  for (std::int64_t i = 1; i < width; ++i) digits += static_cast<char>('0' + draws.below(10));
  digits += static_cast<char>(width == 1 ? '0' + draws.below(10) : '1' + draws.below(9));
  return digits;
}

std::string add_digits(const std::string& a, const std::string& b) {
  std::string sum;
  int carry = 0;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const int s = carry + (i < a.size() ? a[i] - '0' : 0) + (i < b.size() ? b[i] - '0' : 0);
    sum += static_cast<char>('0' + s % 10);
    carry = s / 10;
  }
  if (carry > 0) sum += '1';
  return sum;
}

TaskSample generate_addition(Draws& draws, TaskRange lengths) {
  const std::int64_t first = draws.within(lengths);
  const std::int64_t second = draws.within(lengths);
  const std::string a = draw_number(draws, first);
  const std::string b = draw_number(draws, second);
  return answer_sample("[" + a + "] + [" + b + "] =", " [" + add_digits(a, b) + "]",
                       std::max(first, second));
}

/// The operands in a fixed order: a + b is the same pair as b + a.
std::string unordered_pair(const TaskSample& sample) {
  const std::string& input = sample.input;  // "[a] + [b] ="
  const auto end = input.find(']');
  const auto second = input.find('[', end) + 1;
  std::string a = input.substr(1, end - 1);
  std::string b = input.substr(second, input.find(']', second) - second);
  if (b < a) std::swap(a, b);
  return a + "+" + b;
}

/// Probability of a digit at a place of a number of `width` digits.
double digit_probability(std::int64_t width, std::int64_t place, int digit) {
  if (place >= width) return digit == 0 ? 1 : 0;
  if (place + 1 < width || width == 1) return 0.1;
  return digit == 0 ? 0 : 1.0 / 9;
}

/// How often each digit is expected in a sum, added to `counts`.
void count_digits(std::int64_t first, std::int64_t second, std::array<double, 10>& counts) {
  double carry = 0;  // probability of one
  for (std::int64_t place = 0; place < std::max(first, second); ++place) {
    double next = 0;
    for (int a = 0; a < 10; ++a)
      for (int b = 0; b < 10; ++b) {
        const double both =
            digit_probability(first, place, a) * digit_probability(second, place, b);
        for (int c = 0; c < 2; ++c) {
          const double share = both * (c == 1 ? carry : 1 - carry);
          counts[static_cast<std::size_t>((a + b + c) % 10)] += share;
          if (a + b + c >= 10) next += share;
        }
      }
    carry = next;
  }
  counts[1] += carry;
}

/// The number of width pairs grows with the square of the range; ranges beyond this are sampled at
/// evenly spread widths.
constexpr std::int64_t kWidths = 32;

TaskRates addition_rates(TaskRange lengths, TaskMetric) {
  std::array<double, 10> counts{};
  double examples = 0;
  const std::int64_t step = 1 + (lengths.max - lengths.min) / kWidths;
  for (std::int64_t first = lengths.min; first <= lengths.max; first += step)
    for (std::int64_t second = lengths.min; second <= lengths.max; second += step, ++examples)
      count_digits(first, second, counts);
  double tokens = kFrame * examples;
  for (const double count : counts) tokens += count;
  const double most = std::max(examples, *std::max_element(counts.begin(), counts.end()));
  return {.chance = 1 / kAnswerIds, .majority = most / tokens};
}

}  // namespace

Task addition_task() {
  Task task{.name = "addition", .summary = "sum of two numbers, digits least significant first"};
  task.final_label = false;
  task.training = {.min = 1, .max = 8};
  task.validation = {{.lengths = task.training, .examples = 256}};
  task.test = sets_of({9, 10, 11, 12, 14, 16, 32}, 256);
  task.metrics = {TaskMetric::accuracy};
  task.generate = generate_addition;
  task.rates = addition_rates;
  task.identity = unordered_pair;
  return task;
}

}  // namespace rondo
