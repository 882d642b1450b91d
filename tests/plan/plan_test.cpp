// Whole plans: rules, limits that bind, ranges, bootstrap, other laws, and the keys of the JSON.
#include "plan/plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "tests/plan/support.h"

namespace rondo {
namespace {

using test::error_of;
using test::fit_of;
using test::joint;
using test::joint_json;

constexpr const char* kBase = R"("E": 1.6, "A": 150, "alpha": 0.312, "B": 3000, "beta": 0.398)";

std::string refused(const FittedLaw& law, const Limits& limits) {
  return error_of([&] { make_plan(law, limits); });
}

bool mentions(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(Plan, AMinimalFitIsEnough) {
  const auto plan = make_plan(joint(), {.flops = 1e21});
  EXPECT_EQ(plan.settings, 136U);
  EXPECT_EQ(plan.best.size(), 136U);
  EXPECT_EQ(plan.share_from, "fit");
  EXPECT_EQ(plan.binding, std::vector<std::string>{"flops"});
  EXPECT_FALSE(plan.best.front().loss_interval.has_value());
  EXPECT_FALSE(plan.best.front().share_best.has_value());
}

TEST(Plan, WhatAFitDoesNotSayMustBeGiven) {
  const std::string parameters = std::string(kBase) + R"(, "phi": 0.46)";
  const auto bare = fit_of("iso-depth", parameters, "");
  EXPECT_TRUE(mentions(refused(bare, {.flops = 1e21, .loops_max = 4}), "--recurrent-share"));
  EXPECT_TRUE(mentions(refused(bare, {.flops = 1e21, .recurrent_share = 0.4}), "--loops-max"));
  EXPECT_EQ(refused(bare, {.flops = 1e21, .recurrent_share = 0.4, .loops_max = 4}), "no error");
  // A law without loops needs neither.
  const auto plan = make_plan(fit_of("chinchilla", kBase, ""), {.flops = 1e21});
  EXPECT_EQ(plan.settings, 1U);
  EXPECT_EQ(plan.rule.name, "no-loops");
}

TEST(Plan, UnidentifiedParametersAreRefused) {
  auto text = joint_json({}, R"(, "statements": ["q is not identified: B = T in every row."])");
  text.replace(text.find("\"q\": 1.022"), 10, "\"q\": null");
  const auto message = refused(parse_fit(text, "fit.json"), {.flops = 1e21});
  EXPECT_EQ(message.substr(0, 12), "2: fit.json:");
  for (const char* words : {"q of the law joint", "B = T in every row", "truncated", "--fix"})
    EXPECT_TRUE(mentions(message, words)) << message;
}

TEST(Plan, InfeasibleNamesTheLimit) {
  const auto memory = refused(joint(), {.flops = 1e21, .parameters = 1e9, .memory_max = 1e9});
  EXPECT_EQ(memory,
            "1: --memory-max 1e+09 allows at most 6.25e+07 parameters of 16 bytes each; "
            "--parameters asks for 1e+09");
  const auto budget = refused(joint(), {.flops = 1e6, .parameters = 1e9});
  EXPECT_EQ(budget.substr(0, 46), "1: --flops 1e+06 does not pay for one token at") << budget;
  const auto inference =
      refused(joint(), {.flops = 1e18, .inference_tokens = 1e12, .parameters = 1e9});
  EXPECT_TRUE(mentions(inference, "1e+12 tokens of inference 2e+21")) << inference;
  EXPECT_EQ(refused(joint(), {.flops = 1e21, .parameters_max = 0.5}).substr(0, 3), "1: ");
}

TEST(Plan, FewerLoopsAreFeasibleWhereMoreAreNot) {
  // One token at T = B = 1 costs 6e9 FLOPs.
  const auto plan = make_plan(joint(), {.flops = 1e10, .parameters = 1e9});
  EXPECT_GT(plan.settings, 0U);
  EXPECT_LT(plan.settings, 136U);
}

TEST(Plan, RulesFollowTheLimitsThatBind) {
  const auto rule = [](const Limits& limits) { return make_plan(joint(), limits).rule; };
  EXPECT_EQ(rule({.flops = 1e21}).name, "free");
  EXPECT_EQ(rule({.flops = 1e21, .parameters_max = 1e15, .tokens_max = 1e15}).name, "free");
  EXPECT_EQ(rule({.flops = 1e21, .loops = 8}).name, "fixed-loops");
  EXPECT_EQ(rule({.flops = 1e21, .loop_budget = 12}).name, "loop-budget");
  EXPECT_EQ(rule({.flops = 1e21, .tokens_max = 1e9}).name, "data");
  EXPECT_EQ(rule({.flops = 1e21, .parameters = 1e8}).name, "memory");
  EXPECT_EQ(rule({.flops = 1e21, .parameters_max = 1.6e9}).name, "parameters");
  EXPECT_EQ(rule({.flops = 1e21, .parameters_max = 1e8}).name, "memory");
  EXPECT_EQ(rule({.flops = 1e21, .memory_max = 1.6e9}).name, "memory");
  const auto truncated = rule({.flops = 1e21, .loops = 8});
  EXPECT_TRUE(truncated.holds);
  EXPECT_TRUE(mentions(truncated.text, "Here B = 2 is best")) << truncated.text;
}

TEST(Plan, ARuleThatTheNumbersContradictSaysSo) {
  // Loops worth more than they cost.
  const auto deep = make_plan(joint({.p = 0.6, .G = 50, .K = 4}), {.flops = 1e21}).rule;
  EXPECT_FALSE(deep.holds);
  EXPECT_TRUE(mentions(deep.text, "Not so here")) << deep.text;
  // Backward loops that carry all the gain.
  const auto full = make_plan(joint({.q = 3, .K = 30}), {.flops = 1e21, .loops = 2}).rule;
  EXPECT_FALSE(full.holds);
  EXPECT_TRUE(mentions(full.text, "all 2 loops back-propagated are best")) << full.text;
}

TEST(Plan, RangesAndFactors) {
  const std::string ranges =
      R"(, "ranges": {"n_once": [1e7, 1e8], "n_rec": [1e7, 1e8], "tokens": [1e8, 1e10],)"
      R"( "loops": [1, 16], "flops": [1e16, 1e19]})";
  const auto plan = make_plan(joint({}, ranges), {.flops = 1e21, .parameters = 1.5e8});
  const auto& best = plan.best.front();
  ASSERT_EQ(best.outside.size(), 2U);
  EXPECT_TRUE(mentions(best.outside[0], "tokens")) << best.outside[0];
  EXPECT_TRUE(mentions(best.outside[1], "flops 1e+21 is 1e+02 times beyond the largest fitted"))
      << best.outside[1];
  EXPECT_TRUE(mentions(plan.warnings[0], "extrapolation"));
  const auto inside = make_plan(joint({}, ranges), {.flops = 1e18, .parameters = 1e8, .loops = 2});
  EXPECT_TRUE(inside.best.front().outside.empty());
  const auto below = make_plan(joint({}, ranges), {.flops = 1e18, .parameters = 5e6, .loops = 1});
  EXPECT_TRUE(mentions(below.best.front().outside[0], "n_total 5e+06 is 4 times below"))
      << below.best.front().outside[0];
}

TEST(Plan, BootstrapGivesIntervalsAndShares) {
  // Refits that differ in E alone: 1.5 … 1.7 in equal steps.
  std::string refits;
  for (int i = 0; i <= 200; ++i)
    refits += fmt::format("{}[{}, 150, 0.312, 3000, 0.398, 3.15, 3.0, 0.237, 1.022]",
                          i == 0 ? "" : ", ", 1.5 + 0.001 * i);
  const auto law = joint({}, fmt::format(R"(, "bootstrap": {{"parameters": [{}]}})", refits));
  const auto plan = make_plan(law, {.flops = 1e21});
  const auto& best = plan.best.front();
  EXPECT_NEAR(best.loss_interval->first, best.setting.loss_nats - 0.095, 1e-9);
  EXPECT_NEAR(best.loss_interval->second, best.setting.loss_nats + 0.095, 1e-9);
  EXPECT_EQ(*best.share_best, 1);
  EXPECT_EQ(*plan.best[1].share_best, 0);
}

TEST(Plan, SharesOfRefitsThatDisagree) {
  // Half of the refits give loops no gain, the other half a large one.
  std::string refits;
  for (int i = 0; i < 40; ++i)
    refits += fmt::format("{}[1.6, 150, 0.312, 3000, 0.398, {}, 3.0, 0.237, 1.022]",
                          i == 0 ? "" : ", ", i % 2 == 0 ? 0.001 : 9.0);
  const auto law = joint({}, fmt::format(R"(, "bootstrap": {{"parameters": [{}]}})", refits));
  const auto plan = make_plan(law, {.flops = 1e21});
  double sum = 0;
  for (const auto& entry : plan.best) {
    sum += *entry.share_best;
    if (entry.setting.loops.forward == 1) {
      EXPECT_NEAR(*entry.share_best, 0.5, 1e-12);
    }
  }
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(Plan, RepeatedDataAreWorthLess) {
  const auto law = fit_of("data-constrained", std::string(kBase) + R"(, "R_D": 15, "R_N": 5)");
  const auto plan = [&](const Limits& limits) {
    return make_plan(law, limits).best.front().setting;
  };
  const auto many = plan({.flops = 1e21});
  const auto few = plan({.flops = 1e21, .unique_tokens = 1e9});
  EXPECT_GT(few.loss_nats, many.loss_nats);
  EXPECT_GT(few.tokens, 1e9);
  EXPECT_NEAR(plan({.flops = 1e21, .unique_tokens = 1e15}).loss_nats, many.loss_nats, 1e-9);
  EXPECT_TRUE(std::isnan(make_plan(law, {.flops = 1e21}).asymptotic.exponents.tokens));
  // Other laws know nothing of repetition; tokens that need not be repeated are fine.
  const auto message = refused(joint(), {.flops = 1e21, .unique_tokens = 1e9});
  EXPECT_TRUE(mentions(message, "data-constrained")) << message;
  EXPECT_EQ(refused(joint(), {.flops = 1e21, .tokens_max = 1e9, .unique_tokens = 1e9}), "no error");
}

TEST(Plan, ALawThatDoesNotSeeTruncationIsCalledOne) {
  const auto law = fit_of("iso-depth", std::string(kBase) + R"(, "phi": 0.46)");
  const auto plan = make_plan(law, {.flops = 1e21});
  EXPECT_EQ(plan.best.front().setting.loops.backward, 1);
  EXPECT_TRUE(mentions(plan.warnings.front(), "does not see B"));
  const auto full = make_plan(law, {.flops = 1e21, .backward_loops = 0});
  EXPECT_TRUE(full.warnings.empty()) << full.warnings.front();
  for (const auto& entry : full.best)
    EXPECT_EQ(entry.setting.loops.backward, entry.setting.loops.forward);
}

TEST(Plan, TheJsonHasItsKeys) {
  const auto json = to_json(make_plan(joint(), {.flops = 1e21, .parameters_max = 1e9}));
  for (const char* key : {"best", "exponents", "exponents_asymptotic", "rule", "trade_offs",
                          "flatness", "growth", "runner_up", "outside", "extrapolates", "binding"})
    EXPECT_TRUE(json.contains(key)) << key;
  for (const char* key : {"loops", "backward_loops", "n_once", "n_rec", "n_total", "tokens",
                          "flops", "loss_nats", "loss_interval", "extrapolates"})
    EXPECT_TRUE(json["best"][0].contains(key)) << key;
  EXPECT_TRUE(json["best"][0]["loops"].is_number_integer());
  EXPECT_TRUE(json["best"][0]["loss_interval"].is_null());
  EXPECT_EQ(json["binding"], Json({"flops", "parameters_max"}));
  for (const char* key : {"loops", "tokens", "parameters"}) {
    EXPECT_TRUE(json["exponents"][key].is_number()) << key;
    EXPECT_TRUE(json["exponents_asymptotic"][key].is_number()) << key;
  }
  const auto constrained =
      fit_of("data-constrained", std::string(kBase) + R"(, "R_D": 15, "R_N": 5)");
  const auto without = to_json(make_plan(constrained, {.flops = 1e21}));
  EXPECT_TRUE(without["exponents_asymptotic"]["loops"].is_null());
  EXPECT_TRUE(without["exponents_asymptotic"]["reason"].is_string());
}

TEST(Plan, TheTextSaysWhatMatters) {
  const auto text = plan_text(make_plan(joint(), {.flops = 1e21, .loop_budget = 12}));
  for (const char* words : {"Rule: ", "T + 2B = 12", "C → ∞", "nats worse: n_total", "runner-up",
                            "Loops against the plain model"})
    EXPECT_TRUE(mentions(text, words)) << words;
  EXPECT_FALSE(mentions(text, "inf")) << text;
  EXPECT_FALSE(mentions(text, "nan")) << text;
}

}  // namespace
}  // namespace rondo
