// The description of a recipe: the keys others rely on, sums, and the text.
#include "cost/describe.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cost/memory.h"
#include "tests/cost/recipes.h"

namespace rondo {
namespace {

using test::recipe;
using test::with;

TEST(Describe, HasTheKeysOthersRelyOn) {
  const Json about = describe(recipe());
  const std::vector<std::pair<const char*, std::vector<const char*>>> keys = {
      {"parameters", {"total", "embedding", "once", "recurrent", "non_embedding"}},
      {"flops_per_token", {"forward", "train", "train_matmul", "train_attention", "train_head"}},
      {"memory_bytes", {"weights", "optimizer", "activations", "kv_cache_per_token"}},
      {"gradient_horizon", {"loops", "tokens"}}};
  for (const auto& [section, names] : keys)
    for (const char* name : names)
      EXPECT_TRUE(about.at(section).at(name).is_number_integer()) << section << "." << name;
  EXPECT_TRUE(about.at("sharing").is_array());
}

TEST(Describe, TheDefaultRecipe) {
  const Json about = describe(with({"loops.backward=2", "train.steps=10"}));
  EXPECT_EQ(about["parameters"]["total"], 3411456);
  EXPECT_EQ(about["flops_per_token"]["train_matmul"], 36711424);
  EXPECT_EQ(about["gradient_horizon"]["loops"], 2);
  EXPECT_EQ(about["gradient_horizon"]["groups"].size(), 3U);
  EXPECT_EQ(about["effective_depth"], 10);
  EXPECT_EQ(about["tokens"], 10 * 16 * 256);
  EXPECT_EQ(about["total_flops"], 36711424LL * 10 * 16 * 256);
  EXPECT_DOUBLE_EQ(about["tokens_per_parameter"].get<double>(), 40960.0 / 3280384.0);
  EXPECT_EQ(about["memory_bytes"]["micro_batch"], 16);
  EXPECT_FALSE(about.contains("time_s"));
  EXPECT_FALSE(about.contains("expected_loops"));
}

TEST(Describe, SampledLoopsCountTheirMeans) {
  const Json about = describe(with({"loops.sampler=uniform", "loops.backward=2"}));
  EXPECT_DOUBLE_EQ(about["expected_loops"]["forward"].get<double>(), 4.0);
  EXPECT_DOUBLE_EQ(about["expected_loops"]["backward"].get<double>(), 13.0 / 7);
  EXPECT_NEAR(about["total_flops"].get<double>(),
              about["expected_flops_per_token"]["train_matmul"].get<double>() * 4096000, 1e6);
  EXPECT_EQ(about["loops"]["forward"], 4);
}

TEST(Describe, MicroBatchOfTheRecipeOrOfTheBudget) {
  EXPECT_EQ(describe(with({"train.micro_batch=4"}))["memory_bytes"]["micro_batch"], 4);
  const double budget = memory_bytes(recipe(), 256, {.micro_batch = 2}).total();
  EXPECT_EQ(describe(recipe(), {.memory_budget_bytes = budget})["memory_bytes"]["micro_batch"], 2);
  EXPECT_EQ(describe(recipe(), {.memory_budget_bytes = 1})["memory_bytes"]["micro_batch"], 1);
}

TEST(Describe, TimeFollowsTheRoof) {
  const Json about = describe(recipe(), {.roof_gflops = 100, .efficiency = 0.5});
  const double flops = about["flops_per_token"]["train"].get<double>() * 16 * 256;
  EXPECT_DOUBLE_EQ(about["time_s"]["step"].get<double>(), flops / 50e9);
  EXPECT_DOUBLE_EQ(about["time_s"]["total"].get<double>(), 1000 * flops / 50e9);
}

TEST(Describe, HugeRunsAreStillNumbers) {
  const Json about = describe(with({"train.steps=1000000000000000", "train.batch=1000003"}));
  EXPECT_TRUE(about["tokens"].is_number_float());
  EXPECT_GT(about["total_flops"].get<double>(), 1e30);
  EXPECT_NO_THROW(describe_text(with({"train.steps=1000000000000000"}), {.roof_gflops = 1}));
}

TEST(Describe, TextShowsCountsFormulaAndHorizon) {
  const std::string text = describe_text(with({"loops.backward=2"}), {.roof_gflops = 120});
  for (const char* part :
       {"3,411,456", "6 N_once + 2 (T + 2B) N_rec", "= 6 · 1573376 + 2 (4 + 2·2) 1704448",
        "Gradients and sharing (T = 4, B = 2)", "the last 2 of 4 loops", "used 4 times",
        "20.0 KiB   per token when generating", "Optimizer groups", "150.4 T",
        "at 50 % of 120 GFLOP/s"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in\n" << text;
  for (const char* part : {"nan", "inf ", "null"})
    EXPECT_EQ(text.find(part), std::string::npos) << part << " in\n" << text;
}

TEST(Describe, ATooSmallVocabularyIsAnError) {
  EXPECT_THROW(describe(with({"model.vocab=31"})), Error);
}

}  // namespace
}  // namespace rondo
