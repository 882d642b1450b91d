// The search against brute force over fine grids, under each limit and several together.
#include "plan/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/plan/support.h"

namespace rondo {
namespace {

using test::brute_force;
using test::joint;
using test::kShare;
using test::Planted;

std::vector<Setting> found(const Limits& limits, const FittedLaw& law = joint()) {
  return search_whole({.limits = limits, .recurrent_share = kShare},
                      LawFunction(law.form, law.parameters), LoopSpace(limits, 16));
}

/// Every pair of loops is as good as brute force finds it, sorted, and within the limits.
void expect_best(const Limits& limits, std::size_t pairs) {
  const Planted law;
  const auto settings = found(limits);
  EXPECT_EQ(settings.size(), pairs);
  double before = 0;
  for (const auto& setting : settings) {
    const auto [t, b] = setting.loops;
    const double least = brute_force(law, limits, t, b);
    EXPECT_LE(setting.loss_nats, least + 1e-12) << t << " " << b;
    EXPECT_GT(setting.loss_nats, least - 1e-5) << t << " " << b;
    EXPECT_NEAR(setting.loss_nats, law.loss(setting.n_total, t, b, setting.tokens), 1e-12);
    EXPECT_GE(setting.loss_nats, before);
    before = setting.loss_nats;
    EXPECT_NEAR(setting.flops,
                (6 * setting.n_once + 2 * (t + 2 * b) * setting.n_rec) * setting.tokens,
                1e-12 * setting.flops);
    EXPECT_LE(setting.flops + setting.inference_flops, limits.flops);
    EXPECT_NEAR(setting.n_once + setting.n_rec, setting.n_total, 1e-9 * setting.n_total);
    EXPECT_NEAR(setting.n_rec, kShare * setting.n_total, 1e-9 * setting.n_total);
  }
}

TEST(Search, Free) { expect_best({.flops = 1e21}, 136); }

TEST(Search, SmallAndLargeBudgets) {
  expect_best({.flops = 1e12, .loops_max = 4}, 10);
  expect_best({.flops = 1e27, .loops_max = 4}, 10);
}

TEST(Search, LargestSize) { expect_best({.flops = 1e22, .parameters_max = 3e8}, 136); }

TEST(Search, FixedSize) { expect_best({.flops = 1e21, .parameters = 1e9}, 136); }

TEST(Search, Memory) { expect_best({.flops = 1e22, .memory_max = 1.6e9}, 136); }

TEST(Search, TokensAtTheirLimit) { expect_best({.flops = 1e21, .tokens_max = 5e9}, 136); }

TEST(Search, SizeAndTokensAtTheirLimits) {
  const Limits limits{.flops = 1e22, .parameters_max = 1e9, .tokens_max = 5e9};
  expect_best(limits, 136);
  EXPECT_LT(found(limits).back().flops, 1e22);
}

TEST(Search, FixedLoops) { expect_best({.flops = 1e21, .loops = 8}, 8); }

TEST(Search, FixedBackwardLoops) {
  expect_best({.flops = 1e21, .backward_loops = 3}, 14);
  expect_best({.flops = 1e21, .backward_loops = 0}, 16);
}

TEST(Search, LoopBudget) {
  expect_best({.flops = 1e21, .loop_budget = 12}, 4);
  for (const auto& setting : found({.flops = 1e21, .loop_budget = 12}))
    EXPECT_EQ(setting.loops.forward + 2 * setting.loops.backward, 12);
  EXPECT_EQ(found({.flops = 1e21, .loop_budget = 12}).front().loops.forward, 4);
}

TEST(Search, InferenceIsPaidFromTheBudget) {
  const Limits limits{.flops = 1e21, .inference_tokens = 1e12};
  expect_best(limits, 136);
  const auto best = found(limits).front();
  EXPECT_NEAR(best.inference_flops, 2e12 * (best.n_once + best.loops.forward * best.n_rec),
              1e-9 * best.inference_flops);
  EXPECT_NEAR(best.flops + best.inference_flops, 1e21, 1e12);
  EXPECT_LT(best.n_total, found({.flops = 1e21}).front().n_total);
}

TEST(Search, ALawWithTwoValleys) {
  // Around n = 1e6 and, lower, around n = 1e9; the budget does not matter to it.
  const std::string form =
      "law = \\\"two\\\"\\nloss = \\\"E + min(0.1 + a * log(n_once / 580000)^2, "
      "a * log(n_once / 580000000)^2) * loops + b * backward_loops\\\"\\n[parameters]\\n"
      "E = { start = [1, 2] }\\na = { start = [0, 1] }\\nb = { start = [0, 1] }\\n";
  const auto law = parse_fit(
      fmt::format(
          R"({{"law": "two", "form": "{}", "parameters": {{"E": 1, "a": 0.01, "b": 0.1}}}})", form),
      "fit.json");
  const auto best = found({.flops = 1e21, .loops = 1}, law).front();
  EXPECT_NEAR(best.n_total, 1e9, 1e4);
  EXPECT_NEAR(best.loss_nats, 1.1, 1e-9);
}

TEST(Search, NearAnotherSizeIsTheSame) {
  const auto law = joint();
  const LawFunction function(law.form, law.parameters);
  const Problem problem{.limits = {.flops = 1e21}, .recurrent_share = kShare};
  const auto far = best_size(problem, function, {4, 2});
  for (const double near : {1e3, 1e8, 5e9, 1e14}) {
    const auto close = best_size(problem, function, {4, 2}, near);
    EXPECT_NEAR(std::log(close->n_total / far->n_total), 0, 1e-6);
  }
}

TEST(Search, RealLoopsAreNoWorseThanWholeOnes) {
  const auto law = joint();
  const LawFunction function(law.form, law.parameters);
  for (const Limits& limits :
       {Limits{.flops = 1e21}, Limits{.flops = 1e21, .parameters = 1e8},
        Limits{.flops = 1e21, .loops = 8}, Limits{.flops = 1e21, .loop_budget = 13}}) {
    const Problem problem{.limits = limits, .recurrent_share = kShare};
    const LoopSpace space(limits, 16);
    const auto real = best_real(problem, function, space);
    const auto whole = search_whole(problem, function, space).front();
    EXPECT_LE(real->loss_nats, whole.loss_nats + 1e-10);
    EXPECT_GT(real->loss_nats, whole.loss_nats - 0.01);
    EXPECT_LE(real->loops.backward, real->loops.forward);
    EXPECT_LE(real->loops.forward, 16);
  }
}

}  // namespace
}  // namespace rondo
