// Limits that contradict each other, and pairs of loops.
#include "plan/limits.h"

#include <gtest/gtest.h>

#include "plan/loop_space.h"
#include "tests/plan/support.h"

namespace rondo {
namespace {

using test::error_of;

std::string refused(const Limits& limits, double largest = 16) {
  return error_of([&] { LoopSpace(limits, largest); });
}

void expect_refused(const Limits& limits, const std::string& a, const std::string& b) {
  const auto message = refused(limits);
  EXPECT_EQ(message.substr(0, 3), "2: ") << message;
  EXPECT_NE(message.find(a), std::string::npos) << message;
  EXPECT_NE(message.find(b), std::string::npos) << message;
}

TEST(Limits, ContradictionsNameBoth) {
  expect_refused({.flops = 1e21, .parameters = 2e9, .parameters_max = 1e9}, "--parameters 2e+09",
                 "--parameters-max 1e+09");
  expect_refused({.flops = 1e21, .loops = 8, .loops_max = 4}, "--loops 8", "--loops-max 4");
  expect_refused({.flops = 1e21, .loops = 4, .backward_loops = 5}, "--backward-loops 5",
                 "--loops 4");
  expect_refused({.flops = 1e21, .backward_loops = 9, .loops_max = 8}, "--backward-loops 9",
                 "--loops-max 8");
  expect_refused({.flops = 1e21, .backward_loops = 17}, "--backward-loops 17", "16");
}

TEST(Limits, ImpossibleLoopBudgets) {
  expect_refused({.flops = 1e21, .loop_budget = 2}, "--loop-budget 2", "at least 3");
  expect_refused({.flops = 1e21, .loops = 2, .loop_budget = 7}, "--loop-budget 7", "B = 2.5");
  expect_refused({.flops = 1e21, .loops = 2, .loop_budget = 10}, "--loops 2", "B = 4");
  expect_refused({.flops = 1e21, .backward_loops = 5, .loop_budget = 12}, "--backward-loops 5",
                 "T = 2");
  expect_refused({.flops = 1e21, .backward_loops = 0, .loop_budget = 10}, "--loop-budget 10",
                 "T = B");
  expect_refused({.flops = 1e21, .loops = 4, .backward_loops = 2, .loop_budget = 12}, "T + 2B = 8",
                 "--loop-budget is 12");
  expect_refused({.flops = 1e21, .loops_max = 3, .loop_budget = 12}, "--loop-budget 12",
                 "--loops-max");
}

TEST(Limits, NumbersOutOfRange) {
  EXPECT_EQ(refused({.flops = 0}), "2: --flops 0: expected a finite number above 0");
  EXPECT_EQ(refused({.flops = 1e21, .tokens_max = -1}),
            "2: --tokens-max -1: expected a finite number above 0");
  expect_refused({.flops = 1e21, .recurrent_share = 1.2}, "--recurrent-share 1.2", "0 to 1");
  expect_refused({.flops = 1e21, .inference_tokens = -1}, "--inference-tokens -1", "finite");
}

TEST(LoopSpace, WholePairs) {
  const auto pairs = [](const Limits& limits, double largest = 16) {
    return LoopSpace(limits, largest).whole().size();
  };
  EXPECT_EQ(pairs({.flops = 1}), 136U);
  EXPECT_EQ(pairs({.flops = 1, .loops_max = 4}), 10U);
  EXPECT_EQ(pairs({.flops = 1, .loops = 32}), 32U);
  EXPECT_EQ(pairs({.flops = 1, .loops = 8, .backward_loops = 2}), 1U);
  EXPECT_EQ(pairs({.flops = 1, .backward_loops = 0}), 16U);
  EXPECT_EQ(pairs({.flops = 1, .loop_budget = 12}), 4U);
  EXPECT_EQ(pairs({.flops = 1, .loops_max = 8, .loop_budget = 12}), 3U);
  EXPECT_EQ(pairs({.flops = 1, .backward_loops = 0, .loop_budget = 12}), 1U);
  EXPECT_EQ(pairs({.flops = 1, .loops = 8, .backward_loops = 2, .loop_budget = 12}), 1U);
}

TEST(LoopSpace, RealRanges) {
  const LoopSpace budget({.flops = 1, .loop_budget = 12}, 16);
  EXPECT_EQ(budget.forward().low, 4);
  EXPECT_EQ(budget.forward().high, 10);
  EXPECT_EQ(budget.backward(6).low, 3);
  EXPECT_EQ(budget.backward(6).high, 3);
  const LoopSpace tied({.flops = 1, .backward_loops = 0}, 16);
  EXPECT_EQ(tied.backward(2.5).low, 2.5);
  const LoopSpace free({.flops = 1, .loops = 8}, 16);
  EXPECT_EQ(free.forward().low, 8);
  EXPECT_EQ(free.backward(8).low, 1);
  EXPECT_EQ(free.backward(8).high, 8);
}

}  // namespace
}  // namespace rondo
