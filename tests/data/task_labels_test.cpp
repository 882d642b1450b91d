// Tasks with one label, each against a solver that works in another way than its generator.
#include <algorithm>
#include <set>

#include "tests/data/support.h"
#include "tests/data/task_support.h"

namespace rondo::testing {
namespace {

using Solver = std::string (*)(std::string text);

std::string solve_parity(std::string text) {
  return std::count(text.begin(), text.end(), '1') % 2 == 1 ? "1" : "0";
}

/// Differences come in pairs exactly when the ends agree.
std::string solve_even_pairs(std::string text) { return text.front() == text.back() ? "0" : "1"; }

std::string solve_cycle(std::string text) {
  std::string circle = "01234";
  for (const char move : text) {
    if (move == '+') std::rotate(circle.begin(), circle.begin() + 1, circle.end());
    if (move == '-') std::rotate(circle.begin(), circle.end() - 1, circle.end());
  }
  return circle.substr(0, 1);
}

char value_of(char a, char op, char b) {
  const int x = a - '0';
  const int y = b - '0';
  const int z = op == '+' ? x + y : op == '-' ? x - y : x * y;
  return static_cast<char>('0' + ((z % 5) + 5) % 5);
}

/// Rewrites digit-operator-digit in place until one digit is left, products first.
std::string solve_flat(std::string text) {
  for (const std::string_view ops : {"*", "+-"})
    for (auto at = text.find_first_of(ops); at != text.npos; at = text.find_first_of(ops))
      text.replace(at - 1, 3, 1, value_of(text[at - 1], text[at], text[at + 1]));
  return text;
}

/// Rewrites what stands between the first closing bracket and its opening one.
std::string solve_brackets(std::string text) {
  const auto reduce = [](std::string inner) {
    std::string digits;
    for (std::size_t i = 0; i < inner.size(); ++i) {
      const bool operand_next = i == 0 || inner[i - 1] < '0' || inner[i - 1] > '9';
      if (inner[i] == '-' && operand_next) {
        digits += value_of('0', '-', inner[i + 1]);
        ++i;
      } else {
        digits += inner[i];
      }
    }
    return digits.size() == 1 ? digits : std::string(1, value_of(digits[0], digits[1], digits[2]));
  };
  for (auto close = text.find(')'); close != text.npos; close = text.find(')')) {
    const auto open = text.rfind('(', close);
    text = text.substr(0, open) + reduce(text.substr(open + 1, close - open - 1)) +
           text.substr(close + 1);
  }
  return reduce(text);
}

struct LabelTask {
  const char* name;
  Solver solve;
  const char* alphabet;
};

constexpr LabelTask kLabelTasks[] = {{"parity", solve_parity, "01"},
                                     {"even-pairs", solve_even_pairs, "ab"},
                                     {"cycle", solve_cycle, "-0+"},
                                     {"mod5-flat", solve_flat, "01234+-*"},
                                     {"mod5-brackets", solve_brackets, "01234+-*()"}};

TEST(TaskLabels, SolversAgree) {
  for (const auto& task : kLabelTasks) {
    const auto shortest = open_task(task.name)->shortest;
    const auto stream = stream_of(task.name, {.min = shortest, .max = 64});
    std::set<std::int64_t> lengths;
    for (std::uint64_t i = 0; i < 10'000; ++i) {
      const auto sample = stream.sample(i);
      const std::string text = sample.input.substr(0, sample.input.size() - 1);
      ASSERT_EQ(sample.target, task.solve(text)) << task.name << " " << sample.input;
      ASSERT_EQ(text.find_first_not_of(task.alphabet), text.npos) << text;
      expect_label_form(sample);
      lengths.insert(sample.length);
    }
    const auto between = 64 - shortest + 1;
    EXPECT_EQ(static_cast<std::int64_t>(lengths.size()), task.solve == solve_flat ? 32 : between);
    for (const std::int64_t length : {256, 1000}) {
      const auto sample = stream_of(task.name, length).sample(3);
      EXPECT_EQ(sample.target, task.solve(sample.input.substr(0, sample.input.size() - 1)));
      EXPECT_EQ(sample.length, task.solve == solve_flat ? length - 1 : length);
      EXPECT_EQ(sample.input.size(), static_cast<std::size_t>(sample.length) + 1);
    }
  }
}

TEST(TaskLabels, MajorityRatesAreThoseCounted) {
  constexpr int kExamples = 20'000;
  for (const auto& task : kLabelTasks)
    for (const TaskRange lengths :
         {TaskRange{5, 5}, TaskRange{9, 9}, TaskRange{33, 33}, TaskRange{3, 40}}) {
      const auto opened = open_task(task.name);
      const auto settled = settle(*opened, lengths);
      const auto rates = opened->rates(settled, TaskMetric::accuracy);
      // Five standard deviations, and the upward bias of the most frequent of equals.
      EXPECT_NEAR(counted_majority(stream_of(task.name, lengths), kExamples), rates.majority, 0.018)
          << task.name << " " << lengths.min << " to " << lengths.max;
      EXPECT_GE(rates.majority, rates.chance - 1e-12);
    }
}

TEST(TaskLabels, LabelsOfShortExpressionsByHand) {
  const auto rates = [](const char* name, std::int64_t length) {
    return open_task(name)->rates({.min = length, .max = length}, TaskMetric::accuracy).majority;
  };
  // d*d is 0 in 9 of 25 cases, d+d and d-d in 5: (9 + 5 + 5) / 75.
  EXPECT_NEAR(rates("mod5-flat", 3), 19.0 / 75, 1e-12);
  EXPECT_NEAR(rates("mod5-brackets", 5), 19.0 / 75, 1e-12);
  EXPECT_NEAR(rates("mod5-brackets", 2), 0.2, 1e-12);
  EXPECT_NEAR(rates("cycle", 1), 1.0 / 3, 1e-12);
  // Products favour 0, and long trees hold many.
  EXPECT_NEAR(rates("mod5-brackets", 40), 0.2916, 1e-4);
  EXPECT_NEAR(rates("mod5-flat", 39), 0.2, 1e-4);
}

TEST(TaskLabels, ShortTreesHaveTheFormsOfThePaper) {
  for (std::int64_t length = 1; length <= 4; ++length) {
    std::string form = stream_of("mod5-brackets", length).sample(0).input;
    for (char& c : form)
      if (c >= '0' && c <= '4') c = 'd';
    EXPECT_EQ(form, std::vector<std::string>({"d=", "-d=", "(d)=", "(-d)="})
                        .at(static_cast<std::size_t>(length - 1)));
  }
}

TEST(TaskLabels, EvenLengthsOfFlatStandForOneLess) {
  const auto task = open_task("mod5-flat");
  EXPECT_EQ(settle(*task, {32, 32}), (TaskRange{31, 31}));
  EXPECT_EQ(settle(*task, {4, 40}), (TaskRange{5, 39}));
  EXPECT_EQ(stream_of("mod5-flat", 32).sample(5).input, stream_of("mod5-flat", 31).sample(5).input);
  // BOS, an expression of L − 1, '=': L + 1 tokens.
  EXPECT_EQ(stream_of("mod5-flat", 32).sample(5).tokens.size(), 33U);
}

}  // namespace
}  // namespace rondo::testing
