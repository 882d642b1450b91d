// Pairs of loops, and why there are none.
#include "plan/loop_space.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace rondo {
namespace {

constexpr double kMostLoops = 1000;

double real(std::int64_t whole) { return static_cast<double>(whole); }

std::int64_t first_whole(Span range) { return static_cast<std::int64_t>(std::ceil(range.low)); }

[[noreturn]] void refuse_budget(const Limits& limits, double largest) {
  const std::int64_t budget = *limits.loop_budget;
  if (budget < 3)
    fail("--loop-budget {}: T + 2B of one loop is already 3; expected at least 3", budget);
  if (limits.loops && limits.backward_loops) {
    const std::int64_t backward =
        *limits.backward_loops == 0 ? *limits.loops : *limits.backward_loops;
    fail("--loops {} with --backward-loops {} makes T + 2B = {}, and --loop-budget is {}",
         *limits.loops, *limits.backward_loops, *limits.loops + 2 * backward, budget);
  }
  if (limits.loops)
    fail("--loop-budget {} with --loops {} leaves B = {}; B must be a whole number from 1 to T",
         budget, *limits.loops, real(budget - *limits.loops) / 2);
  if (limits.backward_loops && *limits.backward_loops > 0)
    fail("--loop-budget {} with --backward-loops {} leaves T = {}; T must be from B to {}", budget,
         *limits.backward_loops, budget - 2 * *limits.backward_loops, largest);
  if (limits.backward_loops && budget % 3 != 0)
    fail("--loop-budget {} with --backward-loops 0: T = B needs a budget that 3 divides", budget);
  fail(
      "--loop-budget {}: T + 2B = {} with B ≤ T needs T ≥ {}, and T is at most {}; raise "
      "--loops-max",
      budget, budget, std::ceil(real(budget) / 3), largest);
}

}  // namespace

LoopSpace::LoopSpace(const Limits& limits, double largest)
    : limits_(limits), largest_(std::floor(largest)) {
  check_limits(limits);
  if (limits.loops_max) largest_ = real(*limits.loops_max);
  if (limits.loops) largest_ = real(*limits.loops);
  require(largest_ >= 1 && largest_ <= kMostLoops,
          "the largest T is {}; expected 1 to {} (--loops-max)", largest_, kMostLoops);
  if (limits.backward_loops)
    require(real(*limits.backward_loops) <= largest_,
            "--backward-loops {} is above the largest T, {}; give a larger --loops-max",
            *limits.backward_loops, largest_);
  const Span range = forward();
  for (auto t = first_whole(range); real(t) <= range.high; ++t) {
    const Span inner = backward(real(t));
    for (auto b = first_whole(inner); real(b) <= inner.high; ++b)
      whole_.push_back({real(t), real(b)});
  }
  if (whole_.empty()) refuse_budget(limits, largest_);
}

Span LoopSpace::forward() const {
  Span range{1, largest_};
  if (limits_.loops) range.low = real(*limits_.loops);
  const bool tied = limits_.backward_loops && *limits_.backward_loops == 0;
  if (limits_.backward_loops && !tied)
    range.low = std::max(range.low, real(*limits_.backward_loops));
  if (!limits_.loop_budget) return range;
  // 1 ≤ B ≤ T with B = (S − T) / 2.
  const double budget = real(*limits_.loop_budget);
  Span pays{budget / 3, budget - 2};
  if (tied) pays.high = pays.low;
  if (limits_.backward_loops && !tied)
    pays.low = pays.high = budget - 2 * real(*limits_.backward_loops);
  return {std::max(range.low, pays.low), std::min(range.high, pays.high)};
}

Span LoopSpace::backward(double forward) const {
  if (limits_.loop_budget) {
    const double b = std::min(forward, (real(*limits_.loop_budget) - forward) / 2);
    return {b, b};
  }
  if (!limits_.backward_loops) return {1, forward};
  const double b = *limits_.backward_loops == 0 ? forward : real(*limits_.backward_loops);
  return {b, b};
}

}  // namespace rondo
