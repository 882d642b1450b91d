// Recipes scaled to a plan, and the memory model of a recipe as a limit on the size.
#include "config/recipe.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cost/flops.h"
#include "cost/memory.h"
#include "cost/parameters.h"
#include "plan/plan.h"
#include "tests/plan/support.h"

namespace rondo {
namespace {

using test::error_of;
using test::joint;

Config base_recipe(const Overrides& settings = {}) {
  return parse_recipe("[loops]\nforward = 4\nbackward = 4\n", "base.toml", settings);
}

double size_of_recipe(const Config& config) {
  return static_cast<double>(
      count_parameters(config.model, vocabulary_size(config)).non_embedding());
}

Setting wanted(double size, LoopCount loops = {4, 2}, double tokens = 1e9) {
  return {.loops = loops,
          .n_total = size,
          .tokens = tokens,
          .flops = train_matmul_flops(0.5 * size, 0.5 * size, loops) * tokens};
}

TEST(ScaledRecipe, TheSameWidthIsTheSameRecipe) {
  const auto recipe = base_recipe();
  EXPECT_TRUE(differences(recipe, scale_width(recipe, 4, 64)).empty());
  const auto planned = plan_recipe(recipe, wanted(size_of_recipe(recipe)), {});
  EXPECT_EQ(planned.config.model.d_model, 256);
  EXPECT_EQ(planned.config.model.heads, 4);
}

TEST(ScaledRecipe, ComesCloseAndReadsBack) {
  for (const double size : {1e6, 5e6, 7.7e6, 5e7, 1e9, 7e10}) {
    const auto planned = plan_recipe(base_recipe(), wanted(size), {});
    const auto& model = planned.config.model;
    EXPECT_NEAR(planned.parameters / size, 1, size < 2e6 ? 0.25 : 0.07) << size;
    EXPECT_EQ(model.heads * model.head_dim, model.d_model);
    EXPECT_EQ(model.head_dim % 8, 0);
    EXPECT_GE(model.head_dim, 48);
    EXPECT_LE(model.head_dim, 80);
    EXPECT_NEAR(static_cast<double>(model.d_ff) / static_cast<double>(model.d_model), 8.0 / 3,
                0.01);
    EXPECT_EQ(planned.config.loops.forward, 4);
    EXPECT_EQ(planned.config.loops.backward, 2);
    const auto read = parse_recipe(to_toml(planned.config), "planned.toml");
    EXPECT_TRUE(differences(planned.config, read).empty());
    EXPECT_NEAR(flops_per_token(read).train_matmul * planned.tokens, planned.flops,
                1e-9 * planned.flops);
  }
}

TEST(ScaledRecipe, StepsHoldTheTokens) {
  const auto recipe = base_recipe({"train.batch=8", "data.sequence_length=128"});
  EXPECT_EQ(plan_recipe(recipe, wanted(3e6, {2, 2}, 1024.0 * 1000), {}).config.train.steps, 1000);
  EXPECT_EQ(plan_recipe(recipe, wanted(3e6, {2, 2}, 1024.0 * 1000 + 1), {}).config.train.steps,
            1001);
}

TEST(ScaledRecipe, KeepsGroupsOfHeadsAndWideAttention) {
  const auto recipe =
      base_recipe({"model.heads=8", "model.kv_heads=2", "model.head_dim=32", "model.d_model=128"});
  const auto planned = plan_recipe(recipe, wanted(2e7), {});
  const auto& model = planned.config.model;
  EXPECT_EQ(model.heads, 4 * model.kv_heads);
  EXPECT_NEAR(
      static_cast<double>(model.heads * model.head_dim) / static_cast<double>(model.d_model), 2,
      0.05);
}

TEST(ScaledRecipe, LimitsAreKept) {
  for (const double most : {3e6, 4.1e6, 2.2e7}) {
    const auto planned = plan_recipe(base_recipe(), wanted(most), {.parameters_max = most});
    EXPECT_LE(planned.parameters, most);
    EXPECT_GT(planned.parameters, 0.7 * most);
  }
}

TEST(ScaledRecipe, LoopsThatAreDrawnKeepTheirCap) {
  const auto recipe = base_recipe({"loops.sampler=uniform", "loops.max=6"});
  const auto planned = plan_recipe(recipe, wanted(3e6, {8, 4}), {});
  EXPECT_EQ(planned.config.loops.max, 12);
  EXPECT_FALSE(planned.notes.empty());
}

TEST(RecipeMemory, TheRecipeItselfFitsIntoItsOwnMemory) {
  for (const LoopCount loops : {LoopCount{1, 1}, LoopCount{4, 2}, LoopCount{4, 4}}) {
    const auto recipe = set_loops(base_recipe(), static_cast<std::int64_t>(loops.forward),
                                  static_cast<std::int64_t>(loops.backward));
    const auto limit = recipe_memory_limit(base_recipe(), training_bytes(recipe));
    EXPECT_NEAR(limit(loops), size_of_recipe(recipe), 1e-6 * size_of_recipe(recipe));
  }
}

TEST(RecipeMemory, FollowsBackwardLoopsAndNotForwardOnes) {
  const auto limit = recipe_memory_limit(base_recipe(), 1e9);
  EXPECT_EQ(limit({4, 2}), limit({16, 2}));
  EXPECT_GT(limit({4, 2}), limit({4, 4}));
  EXPECT_GT(limit({4, 2}), limit({4, 2.5}));
  EXPECT_GT(limit({4, 2.5}), limit({4, 3}));
  EXPECT_EQ(recipe_memory_limit(base_recipe(), 1e4)({1, 1}), 0);
}

TEST(RecipeMemory, APlanFitsWhenItIsWrittenDown) {
  const auto recipe = base_recipe();
  for (const double memory : {6e8, 2e9, 4e10}) {
    const Limits limits{.flops = 1e23, .memory_max = memory, .loops_max = 2};
    const auto plan = make_plan(joint(), limits, &recipe);
    const auto planned = plan_recipe(recipe, plan.best.front().setting, limits);
    EXPECT_LE(planned.bytes, memory);
    EXPECT_GT(planned.bytes, 0.8 * memory);
    EXPECT_TRUE(plan.rule.name == "memory") << plan.rule.name;
  }
}

TEST(RecipeMemory, TooLittleForAnyWidth) {
  const auto recipe = base_recipe();
  const auto message =
      error_of([&] { make_plan(joint(), {.flops = 1e20, .memory_max = 1e4}, &recipe); });
  EXPECT_EQ(message.substr(0, 22), "1: --memory-max 10000:") << message;
  const auto fixed = error_of(
      [&] { make_plan(joint(), {.flops = 1e20, .parameters = 1e9, .memory_max = 1e9}, &recipe); });
  EXPECT_NE(fixed.find("--parameters asks for 1e+09"), std::string::npos) << fixed;
}

}  // namespace
}  // namespace rondo
