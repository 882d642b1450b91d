// Addition: sums checked by subtracting, the text's form, what is supervised, rates by counting.
#include <algorithm>
#include <regex>
#include <set>

#include "tests/data/support.h"
#include "tests/data/task_support.h"

namespace rondo::testing {
namespace {

/// Digits of c − b, most significant first; all three most significant first, c ≥ b.
std::string subtract(std::string c, std::string b) {
  b.insert(0, c.size() - b.size(), '0');
  bool borrow = false;
  for (std::size_t i = c.size(); i-- > 0;) {
    int digit = c[i] - b[i] - (borrow ? 1 : 0);
    borrow = digit < 0;
    if (borrow) digit += 10;
    c[i] = static_cast<char>('0' + digit);
  }
  EXPECT_FALSE(borrow);
  c.erase(0, std::min(c.find_first_not_of('0'), c.size() - 1));
  return c;
}

struct WrittenSum {
  std::string a, b, c;
};

/// The numbers of an example, most significant digit first.
WrittenSum parse_sum(const TaskSample& sample) {
  static const std::regex form(R"(\[(\d+)\] \+ \[(\d+)\] = \[(\d+)\])");
  const std::string text = sample.input + sample.target;
  std::smatch match;
  EXPECT_TRUE(std::regex_match(text, match, form)) << text;
  WrittenSum sum{.a = match[1], .b = match[2], .c = match[3]};
  for (auto* digits : {&sum.a, &sum.b, &sum.c}) std::reverse(digits->begin(), digits->end());
  return sum;
}

TEST(TaskAddition, SumsLessOneOperandAreTheOther) {
  const auto check = [](const TaskStream& stream, int count) {
    for (int i = 0; i < count; ++i) {
      const auto sample = stream.sample(static_cast<std::uint64_t>(i));
      const auto sum = parse_sum(sample);
      ASSERT_EQ(subtract(sum.c, sum.b), sum.a) << sample.input << sample.target;
      for (const auto& digits : {sum.a, sum.b, sum.c})
        EXPECT_TRUE(digits.size() == 1 || digits[0] != '0') << sample.input;
    }
  };
  check(stream_of("addition", {.min = 1, .max = 8}), 5000);
  for (const std::int64_t digits : {1, 2, 9, 32, 500}) check(stream_of("addition", digits), 100);
}

TEST(TaskAddition, TheAnswerAndItsEndAreSupervised) {
  const auto sample = stream_of("addition", 5).sample(0);
  const auto answer = supervised(sample);
  EXPECT_EQ(task_text(answer), sample.target + "<|eos|>");
  EXPECT_EQ(task_text(sample.tokens), "<|bos|>" + sample.input + sample.target);
  // Each target is the token that follows; the first stands where '=' is read.
  ASSERT_EQ(sample.tokens.size(), sample.targets.size());
  const auto equals = sample.input.size();
  EXPECT_EQ(sample.tokens[equals], '=');
  for (std::size_t t = 0; t + 1 < sample.tokens.size(); ++t)
    EXPECT_EQ(sample.targets[t], t < equals ? kNoTarget : sample.tokens[t + 1]);
  EXPECT_EQ(sample.targets.back(), kTaskEos);
}

TEST(TaskAddition, WidthsAreUniformAndIndependent) {
  const auto stream = stream_of("addition", {.min = 1, .max = 8});
  std::map<std::pair<std::size_t, std::size_t>, int> widths;
  for (std::uint64_t i = 0; i < 12'800; ++i) {
    const auto sum = parse_sum(stream.sample(i));
    ++widths[{sum.a.size(), sum.b.size()}];
  }
  EXPECT_EQ(widths.size(), 64U);
  for (const auto& [pair, count] : widths) EXPECT_NEAR(count, 200, 75);
}

TEST(TaskAddition, TestSetsAreUnorderedUniquePairs) {
  const auto task = open_task("addition");
  for (const auto& set : task->test) {
    const TaskStream stream(task, 20260916, TaskSplit::test, set.lengths);
    std::set<std::pair<std::string, std::string>> pairs;
    for (std::int64_t i = 0; i < set.examples; ++i) {
      const auto sum = parse_sum(stream.sample(static_cast<std::uint64_t>(i)));
      EXPECT_EQ(static_cast<std::int64_t>(sum.a.size()), set.lengths.min);
      EXPECT_EQ(sum.a.size(), sum.b.size());
      pairs.insert(std::minmax(sum.a, sum.b));
    }
    EXPECT_EQ(pairs.size(), 256U);
  }
}

TEST(TaskAddition, RatesAreThoseCounted) {
  const auto task = open_task("addition");
  for (const TaskRange lengths :
       {TaskRange{1, 1}, TaskRange{1, 8}, TaskRange{12, 12}, TaskRange{32, 32}}) {
    const auto stream = stream_of("addition", lengths);
    std::map<std::int32_t, double> counts;
    double all = 0;
    for (std::uint64_t i = 0; i < 5000; ++i)
      for (const auto id : supervised(stream.sample(i))) {
        ++counts[id];
        ++all;
      }
    double most = 0;
    for (const auto& [id, count] : counts) most = std::max(most, count);
    const auto rates = task->rates(lengths, TaskMetric::accuracy);
    EXPECT_NEAR(most / all, rates.majority, 0.004) << lengths.max;
    EXPECT_EQ(counts.size(), 14U);
    EXPECT_DOUBLE_EQ(rates.chance, 1.0 / 14);
  }
}

}  // namespace
}  // namespace rondo::testing
