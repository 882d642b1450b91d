// Curves of equal loss against brute force, and the published trade-offs of two full loops.
#include "plan/trade_offs.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/plan/support.h"

namespace rondo {
namespace {

using test::joint;
using test::kShare;
using test::Planted;

struct Fixture {
  Planted planted;
  FittedLaw law;
  Limits limits;
  Problem problem;
  LawFunction function;

  explicit Fixture(const Limits& given, const Planted& parameters = {})
      : planted(parameters),
        law(joint(parameters)),
        limits(given),
        problem{.limits = given, .recurrent_share = kShare},
        function(law.form, law.parameters) {}

  [[nodiscard]] std::vector<TradeOff> against_plain(LoopCount loops) const {
    const auto plain = best_plain(problem, function);
    const std::array settings = {*best_size(problem, function, loops)};
    return trade_offs(problem, function, *plain, settings);
  }
};

double per_token(double t, double b) { return 6 * (1 - kShare) + 2 * (t + 2 * b) * kShare; }

TEST(TradeOffs, EqualTokens) {
  const Fixture fixture({.flops = 1e21});
  const auto plain = *best_plain(fixture.problem, fixture.function);
  EXPECT_EQ(plain.loops.forward, 1);
  const auto trade = fixture.against_plain({2, 2})[1];
  EXPECT_EQ(trade.at, "equal_tokens");
  ASSERT_TRUE(trade.setting.has_value());
  EXPECT_NEAR(trade.setting->tokens, plain.tokens, 1);
  EXPECT_NEAR(trade.setting->loss_nats, plain.loss_nats, 1e-10);
  // Equal loss at equal tokens is equal N_eff: n (1 − f + f g) = n_plain.
  const double u = std::pow(2, 0.237 + 1.022), g = 1 + 3.15 * (u - 1) / (u - 1 + 3);
  const double saved = 1 - 1 / (1 - kShare + kShare * g);
  EXPECT_NEAR(trade.parameters_saved, saved, 1e-9);
  EXPECT_GT(saved, 0.27);
  EXPECT_LT(saved, 0.32);
  const double extra = (1 - saved) * per_token(2, 2) / per_token(1, 1) - 1;
  EXPECT_NEAR(trade.extra_flops, extra, 1e-9);
}

TEST(TradeOffs, EqualFlops) {
  // With a strong gain (2, 2) beats the plain model, and fewer parameters reach its loss.
  const Fixture fixture({.flops = 1e21}, {.G = 6});
  const auto trade = fixture.against_plain({2, 2})[0];
  EXPECT_EQ(trade.at, "equal_flops");
  ASSERT_TRUE(trade.setting.has_value());
  EXPECT_LT(trade.loss_gap_nats, 0);
  const double level = best_plain(fixture.problem, fixture.function)->loss_nats;
  double smallest = 0;
  constexpr int kSteps = 2000000;
  for (int i = kSteps; i > 0; --i) {
    const double n = std::exp(std::log(1e12) * i / kSteps), d = 1e21 / (per_token(2, 2) * n);
    if (fixture.planted.loss(n, 2, 2, d) <= level) smallest = n;
  }
  EXPECT_NEAR(trade.setting->n_total / smallest, 1, 3e-5);
  EXPECT_NEAR(trade.setting->flops, 1e21, 1e10);
  EXPECT_NEAR(trade.extra_flops, 0, 1e-9);
}

TEST(TradeOffs, WhatIsNotReached) {
  const Fixture fixture({.flops = 1e21});
  const auto trade = fixture.against_plain({16, 16})[0];
  EXPECT_FALSE(trade.setting.has_value());
  EXPECT_GT(trade.loss_gap_nats, 0.01);
}

TEST(TradeOffs, FixedSizeIsAnUpperBound) {
  const Fixture fixture({.flops = 1e21, .parameters = 3e8});
  const auto trade = fixture.against_plain({4, 4})[0];
  ASSERT_TRUE(trade.setting.has_value());
  EXPECT_LT(trade.setting->n_total, 3e8);
  EXPECT_GT(trade.parameters_saved, 0.3);
}

TEST(TradeOffs, PlainSettingsArePassedOver) {
  const Fixture fixture({.flops = 1e21});
  EXPECT_TRUE(fixture.against_plain({1, 1}).empty());
}

TEST(Flatness, EndsAreThatMuchWorse) {
  const Fixture fixture({.flops = 1e21});
  const auto best = *best_size(fixture.problem, fixture.function, {4, 2});
  const auto rows = flatness(fixture.problem, fixture.function, best);
  ASSERT_EQ(rows.size(), 2U);
  for (const auto& row : rows)
    for (const double n : {*row.lowest, *row.highest})
      EXPECT_NEAR(fixture.planted.loss(n, 4, 2, 1e21 / (per_token(4, 2) * n)),
                  best.loss_nats + row.nats, 1e-9);
  EXPECT_LT(rows[0].nats, rows[1].nats);
  EXPECT_GT(*rows[0].lowest, *rows[1].lowest);
  EXPECT_LT(*rows[0].highest, *rows[1].highest);
}

TEST(Flatness, StopsAtLimits) {
  const Fixture held({.flops = 1e22, .parameters_max = 1e9});
  const auto best = *best_size(held.problem, held.function, {1, 1});
  const auto rows = flatness(held.problem, held.function, best);
  EXPECT_FALSE(rows[0].highest.has_value());
  EXPECT_TRUE(rows[0].lowest.has_value());
  const Fixture fixed({.flops = 1e22, .parameters = 1e9});
  EXPECT_TRUE(
      flatness(fixed.problem, fixed.function, *best_size(fixed.problem, fixed.function, {1, 1}))
          .empty());
}

}  // namespace
}  // namespace rondo
