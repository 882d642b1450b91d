// The description of a recipe: the keys others rely on, sums, and the text.
#include "cost/describe.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cost/memory.h"
#include "cost/time.h"
#include "tests/cost/recipes.h"
#include "tests/cost/speeds.h"

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
  EXPECT_FALSE(about.contains("seconds"));
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

TEST(Describe, TimeIsThatOfTheModel) {
  const auto config = with({"train.micro_batch=8"});
  const auto speed = test::even_speed();
  const Json about = describe(config, {.speed = speed});
  const double step = step_seconds(config, 256, 8, speed).total();
  EXPECT_DOUBLE_EQ(about["seconds"]["step"].get<double>(), step);
  EXPECT_DOUBLE_EQ(about["seconds"]["run_steps"].get<double>(), 1000 * step);
  EXPECT_DOUBLE_EQ(about["seconds"]["tokens_per_s"].get<double>(), 16 * 256 / step);
  double sum = 0;
  for (const auto& term : about["seconds"]["step_terms"]) sum += term.get<double>();
  EXPECT_NEAR(sum, step, 1e-12);
  EXPECT_GT(about["inference"][0]["decode_s_per_token"].get<double>(), 0);
}

TEST(Describe, InferenceByLoops) {
  const auto loops_of = [](const Json& about) {
    std::vector<std::int64_t> loops;
    for (const auto& entry : about["inference"]) loops.push_back(entry["loops"]);
    return loops;
  };
  const Json about = describe(recipe());
  EXPECT_EQ(loops_of(about), (std::vector<std::int64_t>{1, 2, 4, 8}));
  EXPECT_EQ(about["inference"][2]["flops_per_token"], about["flops_per_token"]["forward"]);
  EXPECT_EQ(about["inference"][2]["kv_bytes_per_token"],
            about["memory_bytes"]["kv_cache_per_token"]);
  EXPECT_FALSE(about["inference"][0].contains("decode_s_per_token"));
  EXPECT_EQ(loops_of(describe(with({"loops.forward=6"}))),
            (std::vector<std::int64_t>{1, 2, 4, 6, 8}));
  const Overrides plain = {"loops.forward=1", "model.injection=none", "model.loop_norm=false"};
  EXPECT_EQ(loops_of(describe(with(plain))), (std::vector<std::int64_t>{1}));
}

TEST(Describe, HugeRunsAreStillNumbers) {
  const Json about = describe(with({"train.steps=1000000000000000", "train.batch=1000003"}));
  EXPECT_TRUE(about["tokens"].is_number_float());
  EXPECT_GT(about["total_flops"].get<double>(), 1e30);
  EXPECT_NO_THROW(
      describe_text(with({"train.steps=1000000000000000"}), {.speed = test::even_speed()}));
}

TEST(Describe, TextShowsCountsFormulaAndHorizon) {
  const std::string text = describe_text(with({"loops.backward=2"}), {.speed = test::even_speed()});
  for (const char* part :
       {"3,411,456", "6 N_once + 2 (T + 2B) N_rec", "= 6 · 1573376 + 2 (4 + 2·2) 1704448",
        "Gradients and sharing (T = 4, B = 2)", "the last 2 of 4 loops", "used 4 times",
        "20.0 KiB   per token when generating", "Optimizer groups", "150.4 T",
        "Inference, per token", "Time on a test, threads: 2", "100 GFLOP/s"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in\n" << text;
  for (const char* part : {"nan", "inf ", "null"})
    EXPECT_EQ(text.find(part), std::string::npos) << part << " in\n" << text;
}

TEST(Describe, ATooSmallVocabularyIsAnError) {
  EXPECT_THROW(describe(with({"model.vocab=31"})), Error);
}

}  // namespace
}  // namespace rondo
