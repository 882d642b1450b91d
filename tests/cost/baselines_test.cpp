// Matched baselines: what must be equal is equal, within 1 %, over many shapes.
#include "cost/baselines.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "cost/flops.h"
#include "cost/memory.h"
#include "tests/cost/recipes.h"

namespace rondo {
namespace {

using test::with;

const std::vector<Overrides> kShapes = {
    {},
    {"size=xs"},
    {"size=l", "loops.forward=8", "loops.backward=2"},
    {"loops.forward=1", "loops.backward=1"},
    {"loops.forward=12", "loops.backward=0", "model.injection=scalar"},
    {"loops.sampler=poisson-lognormal", "loops.forward=8", "loops.backward=4"},
    {"loops.sampler=uniform", "loops.forward=6", "loops.recompute=true"},
    {"model.prelude_layers=0", "model.coda_layers=0", "model.core_layers=1",
     "model.tied_head=true"},
    {"model.kv_heads=1", "model.qk_norm=gain", "model.state_init=zero", "data.sequence_length=64"},
    {"model.d_model=96", "model.heads=3", "model.d_ff=100", "model.injection=channel"},
};

TEST(Baselines, MatchWithinOnePercent) {
  for (const auto& shape : kShapes) {
    const auto config = with(shape);
    const auto name = fmt::format("{}", fmt::join(shape, " "));
    const auto baselines = matched_baselines(config);
    ASSERT_EQ(baselines.size(), 3U);
    EXPECT_EQ(baselines[0].match, "parameters");
    EXPECT_EQ(baselines[1].match, "flops");
    EXPECT_EQ(baselines[2].match, "kv");
    for (const auto& baseline : baselines) {
      EXPECT_LT(std::abs(baseline.relative_error), 0.01) << name << " " << baseline.match;
      EXPECT_NEAR(baseline.relative_error, baseline.achieved / baseline.target - 1, 1e-12);
    }
    // The figures again, from the recipes themselves.
    const auto total = [](const Config& c) {
      return static_cast<double>(count_parameters(c.model, vocabulary_size(c)).total);
    };
    EXPECT_NEAR(total(baselines[0].config) / total(config), 1, 0.01) << name;
    EXPECT_NEAR(flops_per_token(baselines[1].config).train / expected_flops_per_token(config).train,
                1, 0.01)
        << name;
    EXPECT_EQ(kv_cache_bytes_per_token(baselines[2].config.model, 1),
              kv_cache_bytes_per_token(config.model, static_cast<double>(config.loops.forward)))
        << name;
  }
}

TEST(Baselines, ArePlainRecipesThatReadBack) {
  for (const auto& shape : kShapes) {
    const auto config = with(shape);
    for (const auto& baseline : matched_baselines(config)) {
      const auto& plain = baseline.config;
      EXPECT_EQ(plain.loops.forward, 1);
      EXPECT_EQ(plain.loops.backward, 1);
      EXPECT_EQ(plain.loops.sampler, Sampler::kFixed);
      EXPECT_FALSE(plain.loops.recompute);
      EXPECT_EQ(plain.model.injection, Injection::kNone);
      EXPECT_EQ(plain.model.state_init, StateInit::kPrelude);
      EXPECT_FALSE(plain.model.loop_norm);
      EXPECT_EQ(to_toml(parse_recipe(to_toml(plain), "again.toml")), to_toml(plain));
      EXPECT_EQ(baseline.parameters, count_parameters(plain.model, vocabulary_size(plain)).total);
      EXPECT_EQ(baseline.flops_per_token, flops_per_token(plain).train);
    }
  }
}

TEST(Baselines, KeepTokensWidthAndOptimisation) {
  const auto config = with({"train.steps=77", "train.batch=12", "seed=5", "data.seed=9"});
  for (const auto& baseline : matched_baselines(config)) {
    for (const auto& difference : differences(config, baseline.config)) {
      const auto key = difference.substr(0, difference.find(':'));
      const bool expected = key.starts_with("loops.") || key == "model.core_layers" ||
                            key == "model.d_ff" || key == "model.injection" ||
                            key == "model.loop_norm" || key == "model.state_init";
      EXPECT_TRUE(expected) << baseline.match << ": " << difference;
    }
  }
}

TEST(Baselines, KvRunsEveryLayerOfEveryLoopOnce) {
  const auto baseline = matched_baselines(with({"loops.forward=5"}))[2];
  EXPECT_EQ(baseline.config.model.core_layers, 10);
  EXPECT_EQ(baseline.config.model.d_ff, 683);
  EXPECT_EQ(baseline.how,
            "layers 4 → 12, d_ff 683, run once; same width, heads, tokens, data and optimisation");
}

TEST(Baselines, APlainRecipeIsItsOwnBaseline) {
  const auto plain = with(
      {"loops.forward=1", "loops.backward=1", "model.injection=none", "model.loop_norm=false"});
  for (const auto& baseline : matched_baselines(plain)) {
    EXPECT_EQ(to_toml(baseline.config), to_toml(plain)) << baseline.match;
    EXPECT_EQ(baseline.relative_error, 0.0);
  }
}

TEST(Baselines, TooManyLayersAreRefused) {
  try {
    matched_baselines(with({"loops.forward=100000", "loops.backward=1"}));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("expected at most 10000"), std::string::npos)
        << error.what();
  }
}

TEST(Baselines, AModelWithoutLayersIsLeftAlone) {
  const auto config =
      with({"model.prelude_layers=0", "model.core_layers=0", "model.coda_layers=0"});
  EXPECT_NO_THROW(matched_baselines(config));
}

}  // namespace
}  // namespace rondo
