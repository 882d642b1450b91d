// Exponents: the closed forms, and the law's own growth, which must tend to them.
#include "plan/exponents.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/plan/support.h"

namespace rondo {
namespace {

using test::fit_of;
using test::joint;
using test::kShare;
using test::Planted;

constexpr const char* kBase = R"("E": 1.6, "A": 150, "alpha": 0.312, "B": 3000, "beta": 0.398)";

void expect_exponents(const Exponents& found, const Exponents& expected, double within) {
  EXPECT_NEAR(found.loops, expected.loops, within);
  EXPECT_NEAR(found.tokens, expected.tokens, within);
  EXPECT_NEAR(found.parameters, expected.parameters, within);
}

Exponents local(const FittedLaw& law, const Limits& limits, double share = kShare) {
  const LoopSpace space(limits, 16);
  return local_exponents({.limits = limits, .recurrent_share = share},
                         LawFunction(law.form, law.parameters), space)
      .value();
}

Exponents asymptotic(const FittedLaw& law, const Limits& limits, Held held = {}) {
  return asymptotic_exponents(law, limits, held).exponents;
}

TEST(Exponents, JointAsPublished) {
  const auto law = joint();
  expect_exponents(asymptotic(law, {}, {.size = true}), {0.240, 0.760, 0}, 0.003);
  expect_exponents(asymptotic(law, {}), {0, 0.439, 0.561}, 0.003);
  expect_exponents(asymptotic(law, {.loops = 8}), {0, 0.439, 0.561}, 0.003);
  expect_exponents(asymptotic(law, {.loops = 8}, {.size = true}), {0, 1, 0}, 1e-12);
  expect_exponents(asymptotic(law, {}, {.tokens = true}), {0, 0, 1}, 1e-12);
  expect_exponents(asymptotic(law, {}, {.size = true, .tokens = true}), {1, 0, 0}, 1e-12);
  const auto fixed_backward = asymptotic(law, {.backward_loops = 2}, {.size = true});
  EXPECT_NEAR(fixed_backward.loops, 0.398 / (0.398 + 0.237), 1e-12);
}

TEST(Exponents, LoopBudget) {
  const auto split = best_loop_split(joint(), 12);
  EXPECT_NEAR(split->forward, 4, 0.003);
  EXPECT_NEAR(split->backward, 4, 0.003);
  const auto truncated = best_loop_split(joint({.p = 0.6, .q = 0.6}), 12);
  EXPECT_NEAR(truncated->forward, 6, 1e-12);
  EXPECT_NEAR(truncated->backward, 3, 1e-12);
  EXPECT_FALSE(best_loop_split(fit_of("chinchilla", kBase), 12).has_value());
}

TEST(Exponents, LocalTendToTheClosedForms) {
  // A small model saturates within a thousand loops only after many decades of compute.
  const Limits held{.flops = 1e27, .parameters = 1e9, .loops_max = 1000};
  expect_exponents(local(joint(), held), {0.240, 0.760, 0}, 0.01);
  // q < 2p: B < T inside, the same exponent.
  const Planted truncated{.p = 0.6, .q = 0.6};
  const Limits lower{.flops = 1e25, .parameters = 1e9, .loops_max = 1000};
  const auto law = joint(truncated);
  const auto expected = asymptotic(law, lower, {.size = true});
  EXPECT_NEAR(expected.loops, 0.398 / (0.398 + 1.2), 1e-12);
  expect_exponents(local(law, lower), expected, 0.02);
  const auto real = best_real({.limits = lower, .recurrent_share = kShare},
                              LawFunction(law.form, law.parameters), LoopSpace(lower, 16));
  EXPECT_NEAR(real->loops.backward / real->loops.forward, 0.5, 0.02);
}

TEST(Exponents, FreeSizeIsAlreadyThere) {
  // At its own best T and B the joint law is a Chinchilla law, whatever C is.
  for (const double flops : {1e18, 1e21, 1e25})
    expect_exponents(local(joint(), {.flops = flops}), {0, 0.312 / 0.71, 0.398 / 0.71}, 1e-4);
  expect_exponents(local(joint(), {.flops = 1e21, .loops = 8}), {0, 0.312 / 0.71, 0.398 / 0.71},
                   1e-4);
  expect_exponents(local(fit_of("chinchilla", kBase), {.flops = 1e21}),
                   {0, 0.312 / 0.71, 0.398 / 0.71}, 1e-5);
}

TEST(Exponents, ALimitThatBindsHasNone) {
  const auto tokens = local(joint(), {.flops = 1e21, .tokens_max = 1e9});
  expect_exponents(tokens, {0, 0, 1}, 1e-5);
  const auto loops = local(joint(), {.flops = 1e25, .parameters = 1e8, .loops_max = 4});
  expect_exponents(loops, {0, 1, 0}, 1e-5);
  const auto all =
      local(joint(), {.flops = 1e25, .parameters = 1e8, .tokens_max = 1e9, .loops_max = 4});
  expect_exponents(all, {0, 0, 0}, 0);
  // Size and tokens are full: loops take every FLOP. Per token 6 · 0.58 + 6 · 0.42 T.
  const Limits full{.flops = 1e20, .parameters = 1e9, .tokens_max = 4e9};
  const double t = (1e20 / 4e18 - 6 * 0.58) / (6 * 0.42);
  expect_exponents(local(joint(), full), {(6 * 0.58 + 6 * 0.42 * t) / (6 * 0.42 * t), 0, 0}, 1e-4);
}

TEST(Exponents, OtherLaws) {
  const auto iso = fit_of("iso-depth", std::string(kBase) + R"(, "phi": 0.46)");
  const double gain = 0.312 * 0.46;
  expect_exponents(asymptotic(iso, {}, {.size = true}),
                   {0.398 / (gain + 0.398), gain / (gain + 0.398), 0}, 1e-12);
  // With all parameters inside the loop there is nothing but powers.
  const Limits held{.flops = 1e22, .parameters = 1e9, .backward_loops = 0, .loops_max = 1000};
  expect_exponents(local(iso, held, 1), asymptotic(iso, held, {.size = true}), 1e-4);

  const auto parcae = fit_of("parcae", kBase);
  expect_exponents(asymptotic(parcae, {}, {.size = true}), {0.398 / 0.71, 0.312 / 0.71, 0}, 1e-12);
  expect_exponents(local(parcae, held, 1), asymptotic(parcae, held, {.size = true}), 1e-4);
  const auto bounded = fit_of("bounded", std::string(kBase) + R"(, "k1": 1.5, "k2": 2)");
  expect_exponents(asymptotic(bounded, {}, {.size = true}), {0, 1, 0}, 1e-12);
  expect_exponents(asymptotic(fit_of("chinchilla", kBase), {}, {.size = true}), {0, 1, 0}, 1e-12);
  EXPECT_LT(local(bounded, {.flops = 1e27, .parameters = 1e8, .loops_max = 500}).loops, 0.1);
}

TEST(Exponents, WithoutAClosedFormTheReasonIsGiven) {
  const auto law = fit_of("data-constrained", std::string(kBase) + R"(, "R_D": 15, "R_N": 5)");
  const auto found = asymptotic_exponents(law, {}, {});
  EXPECT_TRUE(std::isnan(found.exponents.loops));
  EXPECT_NE(found.why.find("no power law"), std::string::npos);
  const auto flat = fit_of("iso-depth", std::string(kBase) + R"(, "phi": -0.1)");
  EXPECT_TRUE(std::isnan(asymptotic(flat, {}, {.size = true}).loops));
}

TEST(Exponents, GrowthRows) {
  const auto law = joint();
  const Limits limits{.flops = 1e21, .parameters = 1e9};
  const auto rows = growth({.limits = limits, .recurrent_share = kShare},
                           LawFunction(law.form, law.parameters), LoopSpace(limits, 16));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[1].flops, 1e21);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_LT(rows[i].setting.loss_nats, rows[i - 1].setting.loss_nats);
    EXPECT_GE(rows[i].setting.loops.forward, rows[i - 1].setting.loops.forward);
  }
}

}  // namespace
}  // namespace rondo
