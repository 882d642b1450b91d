// Word problems: against products found point by point, and against published tables.
#include <cstdlib>
#include <sstream>

#include "base/text.h"
#include "data/group.h"
#include "tests/data/support.h"
#include "tests/data/task_support.h"

namespace rondo::testing {
namespace {

std::vector<int> numbers(const std::string& text) {
  std::istringstream words(text);
  std::vector<int> all;
  for (int n = 0; words >> n;) all.push_back(n);
  return all;
}

/// The n-th permutation in lexicographic order, digit by digit in the factorial number system.
std::vector<int> unrank(int n, int points) {
  std::vector<int> rest;
  int block = 1;
  for (int i = 0; i < points; ++i) rest.push_back(i);
  for (int i = 2; i < points; ++i) block *= i;
  std::vector<int> p;
  for (int left = points - 1; left >= 0; --left) {
    p.push_back(rest[static_cast<std::size_t>(n / block)]);
    rest.erase(rest.begin() + n / block);
    n %= block;
    if (left > 0) block /= left;
  }
  return p;
}

TEST(TaskGroup, S5ProductsMovePointsAsTheirFactorsDo) {
  for (const char* name : {"s5", "s5-swaps"}) {
    const auto stream = stream_of(name, 40);
    for (std::uint64_t i = 0; i < 200; ++i) {
      const auto sample = stream.sample(i);
      const auto inputs = numbers(sample.input);
      const auto targets = numbers(sample.target);
      ASSERT_EQ(inputs.size(), 40U);
      ASSERT_EQ(targets.size(), 40U);
      std::vector<std::vector<int>> factors;
      for (const int n : inputs) factors.push_back(unrank(n, 5));
      for (std::size_t t = 0; t < inputs.size(); ++t) {
        const auto product = unrank(targets[t], 5);
        for (int point = 0; point < 5; ++point) {
          // acc ∘ next: the last factor moves a point first.
          int at = point;
          for (std::size_t f = t + 1; f-- > 0;) at = factors[f][static_cast<std::size_t>(at)];
          ASSERT_EQ(at, product[static_cast<std::size_t>(point)]);
        }
      }
    }
  }
}

TEST(TaskGroup, EveryProductIsSupervised) {
  const auto sample = stream_of("s5", 32).sample(0);
  ASSERT_EQ(sample.tokens.size(), 33U);
  EXPECT_EQ(sample.tokens[0], kTaskBos);
  EXPECT_EQ(sample.targets[0], kNoTarget);
  EXPECT_EQ(supervised(sample).size(), 32U);
  const auto inputs = numbers(sample.input);
  const auto targets = numbers(sample.target);
  for (std::size_t t = 0; t < 32; ++t) {
    EXPECT_EQ(sample.tokens[t + 1], inputs[t]);
    EXPECT_EQ(sample.targets[t + 1], targets[t]);
  }
  EXPECT_EQ(sample.targets[1], sample.tokens[1]);
  EXPECT_EQ(sample.length, 32);
}

TEST(TaskGroup, SwapsMoveAtMostTwoPoints) {
  const auto chosen = swaps(5);
  ASSERT_EQ(chosen.size(), 11U);
  EXPECT_EQ(chosen[0], 0);
  const auto s5 = open_group("s5");
  for (const int n : chosen) EXPECT_EQ(s5->product(n, n), 0);
  std::vector<int> seen(120);
  for (std::uint64_t i = 0; i < 100; ++i)
    for (const int n : numbers(stream_of("s5-swaps", 32).sample(i).input))
      ++seen[static_cast<std::size_t>(n)];
  for (int n = 0; n < 120; ++n)
    EXPECT_EQ(seen[static_cast<std::size_t>(n)] > 0,
              std::find(chosen.begin(), chosen.end(), n) != chosen.end());
}

TEST(TaskGroup, GroupsAreGroups) {
  for (const char* name :
       {"s2", "s3", "s4", "a3", "a4", "a5", "z2", "z7", "z60", "z256", "a4xz5", "s3xz10"}) {
    const auto group = open_group(name);
    ASSERT_TRUE(group) << name;
    const int n = group->order;
    for (int a = 0; a < n; ++a) {
      std::vector<bool> row(static_cast<std::size_t>(n));
      for (int b = 0; b < n; ++b) {
        row[static_cast<std::size_t>(group->product(a, b))] = true;
        const int c = (a * 7 + b * 3 + 1) % n;
        ASSERT_EQ(group->product(group->product(a, b), c), group->product(a, group->product(b, c)));
      }
      EXPECT_EQ(std::count(row.begin(), row.end(), true), n);
      EXPECT_EQ(group->product(a, 0), a);
      EXPECT_EQ(group->product(0, a), a);
    }
  }
  for (const char* name :
       {"s6", "a6", "z1", "z0", "z257", "z07", "s1", "q8", "", "x", "z2x", "a5xa5"})
    EXPECT_FALSE(open_group(name)) << name;
}

TEST(TaskGroup, RatesAreThoseCounted) {
  const auto task = open_task("s5-swaps");
  for (const std::int64_t length : {1, 2, 4, 32}) {
    const TaskRange lengths{.min = length, .max = length};
    const auto stream = stream_of("s5-swaps", length);
    constexpr int kExamples = 20'000;
    EXPECT_NEAR(counted_majority(stream, kExamples),
                task->rates(lengths, TaskMetric::accuracy).majority, 0.012);
    std::map<int, double> prefixes;
    for (std::uint64_t i = 0; i < kExamples; ++i)
      for (const int n : supervised(stream.sample(i))) ++prefixes[n];
    double most = 0;
    for (const auto& [n, count] : prefixes) most = std::max(most, count);
    EXPECT_NEAR(most / kExamples / static_cast<double>(length),
                task->rates(lengths, TaskMetric::accuracy_prefix).majority, 0.012);
  }
  const auto at = [&](const char* name, std::int64_t length, TaskMetric metric) {
    return open_task(name)->rates({.min = length, .max = length}, metric);
  };
  EXPECT_NEAR(at("s5-swaps", 1, TaskMetric::accuracy).majority, 1.0 / 11, 1e-12);
  EXPECT_NEAR(at("s5-swaps", 2, TaskMetric::accuracy).majority, 1.0 / 11, 1e-12);
  EXPECT_NEAR(at("s5", 32, TaskMetric::accuracy).chance, 1.0 / 120, 1e-12);
  EXPECT_NEAR(at("s5", 32, TaskMetric::accuracy_prefix).majority, 1.0 / 120, 1e-12);
  EXPECT_NEAR(at("a5", 2, TaskMetric::accuracy_sequence).chance, 1.0 / 3600, 1e-12);
  EXPECT_NEAR(at("s5-swaps", 2, TaskMetric::accuracy_sequence).majority, 1.0 / 121, 1e-12);
}

/// Rows of a published table whose products are not ours; all rows are counted into `rows`.
int wrong_rows(const fs::path& file, const Group& group, int& rows) {
  std::istringstream lines(read_file(file));
  std::string line;
  std::getline(lines, line);
  int wrong = 0;
  for (rows = 0; std::getline(lines, line); ++rows) {
    const auto cells = split(line, ',');
    std::vector<int> products;
    for (const int n : numbers(cells.at(1)))
      products.push_back(products.empty() ? n : group.product(products.back(), n));
    auto targets = numbers(cells.at(2));
    if (targets.size() == 1) products = {products.back()};
    wrong += products != targets ? 1 : 0;
  }
  return wrong;
}

TEST(TaskGroup, PublishedTablesAgree) {
  const char* data = std::getenv("RONDO_DATA");
  if (data == nullptr) GTEST_SKIP() << "RONDO_DATA is not set: published word problems not checked";
  const fs::path folder = fs::path(data) / "algorithmic";
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " does not exist";
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".csv") continue;
    // "A4_x_Z5=3" is the group a4xz5.
    std::string name;
    for (const char c : entry.path().stem().string()) {
      if (c == '=') break;
      if (c != '_') name += static_cast<char>(std::tolower(c));
    }
    const auto group = open_group(name);
    ASSERT_TRUE(group) << name;
    int rows = 0;
    EXPECT_EQ(wrong_rows(entry.path(), *group, rows), 0) << entry.path();
    EXPECT_GT(rows, 0) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 15);
}

}  // namespace
}  // namespace rondo::testing
