// Seconds of steps, runs and tokens on a machine with round speeds.
#include "cost/time.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cost/flops.h"
#include "tests/cost/recipes.h"
#include "tests/cost/speeds.h"

namespace rondo {
namespace {

using test::even_speed;
using test::recipe;
using test::with;

StepSeconds step(const Config& config, std::int64_t micro_batch = 16) {
  return step_seconds(config, 256, micro_batch, even_speed());
}

Config loops(std::int64_t forward, std::int64_t backward, Overrides more = {}) {
  more.push_back(fmt::format("loops.forward={}", forward));
  more.push_back(fmt::format("loops.backward={}", backward));
  return with(more);
}

TEST(Time, ProductsAreTheFlopsOfTheFormulaAtTheMeasuredRate) {
  // A feed-forward width without padding, and an injection without a product, whose input half is
  // counted in every loop by the formula but computed once.
  for (const auto& config : {loops(4, 4, {"model.d_ff=688", "model.injection=channel"}),
                             loops(6, 2, {"model.d_ff=688", "model.injection=none"})}) {
    const auto flops = flops_per_token(config);
    EXPECT_NEAR(step(config).matmul, flops.train_matmul * 4096 / 100e9, 1e-9);
    // No norm, sum or copy is in the head's part, but the loss: 3 ns a logit.
    EXPECT_NEAR(step(config).head, flops.train_head * 4096 / 100e9 + 4096 * 256 * 3e-9, 1e-8);
  }
}

TEST(Time, ADenseInjectionComputesItsInputHalfOnce) {
  const Overrides wide = {"model.d_ff=688"};
  const double product = 2.0 * 4096 * 256 * 256 / 100e9;
  EXPECT_NEAR(
      step(loops(5, 2, wide)).matmul,
      flops_per_token(loops(5, 2, wide)).train_matmul * 4096 / 100e9 - (5 + 2 * 2 - 3) * product,
      1e-9);
}

TEST(Time, ADenseHistoryMultipliesTheLagsThatOccur) {
  // Six loops see 0, 0, 1, 2, 2, 2 earlier states: 7 products forward and 14 backward.
  const auto added = [](std::int64_t forward, std::int64_t backward, std::int64_t window) {
    const auto bare = step(loops(forward, backward, {"model.injection=none"}));
    const auto seen = step(loops(forward, backward,
                                 {"model.injection=none", "model.history=dense",
                                  fmt::format("model.history_window={}", window)}));
    return (seen.matmul - bare.matmul) / (2.0 * 4096 * 256 * 256 / 100e9);
  };
  EXPECT_NEAR(added(6, 6, 2), 21, 1e-6);
  EXPECT_NEAR(added(6, 6, 99), 3 * (1 + 2 + 3 + 4), 1e-6);
  EXPECT_NEAR(added(2, 2, 1), 0, 1e-6);
}

TEST(Time, GatesAndHistoriesCostPassesOverMemory) {
  const auto added = [](Overrides more) {
    return step(loops(4, 4, more)).elementwise - step(loops(4, 4)).elementwise;
  };
  const double channel = added({"model.history=channel", "model.history_window=1"});
  EXPECT_GT(channel, 0);
  EXPECT_DOUBLE_EQ(added({"model.history=scalar", "model.history_window=1"}), channel);
  EXPECT_GT(added({"model.history=channel", "model.history_window=2"}), channel);
  EXPECT_GT(added({"model.timestep=branch-gate"}), 0);
  // Nothing of the size of a product.
  EXPECT_LT(added({"model.timestep=adaln"}), 0.1 * step(loops(4, 4)).total());
}

TEST(Time, AttentionCountsPairsOfEveryLayerAndLoop) {
  // 16 sequences of 4 heads with 256 · 257 / 2 pairs: 1 ns forward, 2 ns backward.
  const double layer = 16 * 4 * 256 * 257 / 2 * 1e-9;
  EXPECT_NEAR(step(loops(4, 4)).attention, layer * 3 * (2 + 2 * 4), 1e-12);
  EXPECT_NEAR(step(loops(8, 2)).attention, layer * (3 * 2 + 2 * (8 + 2 * 2)), 1e-12);
  // With a mask that is not known to be causal, all pairs.
  EXPECT_NEAR(step(loops(4, 4, {"data.document_mask=true"})).attention,
              16 * 4 * 256 * 256 * 1e-9 * 3 * (2 + 2 * 4), 1e-12);
}

TEST(Time, IsLinearInForwardAndBackwardLoops) {
  const auto total = [](double forward, double backward) {
    return step_seconds(recipe(), 256, 16, even_speed(), {forward, backward}).total();
  };
  const double forward = total(5, 2) - total(4, 2), backward = total(5, 3) - total(5, 2);
  EXPECT_GT(forward, 0);
  EXPECT_GT(backward, 1.8 * forward);
  EXPECT_NEAR(total(9, 6), total(5, 2) + 4 * (forward + backward), 1e-9);
}

TEST(Time, RecomputingAddsTheForwardOfKeptLoops) {
  const auto kept = step_seconds(recipe(), 256, 16, even_speed(), {8, 2});
  const auto again = step_seconds(with({"loops.recompute=true"}), 256, 16, even_speed(), {8, 2});
  const auto longer = step_seconds(recipe(), 256, 16, even_speed(), {10, 2});
  // But for the norms of the states, which are recorded once.
  EXPECT_NEAR(again.total(), longer.total(), 2 * 4096 * 256 * 1e-9 + 1e-12);
  EXPECT_NEAR(again.matmul, longer.matmul, 1e-12);
  EXPECT_GT(again.matmul, kept.matmul);
}

TEST(Time, SampledLoopsTakeTheMeanStep) {
  const auto sampled = with({"loops.sampler=uniform", "loops.backward=0"});
  EXPECT_NEAR(step(sampled).total(), step(loops(4, 4)).total(), 1e-12);
}

TEST(Time, MicroBatchesAddUp) {
  const auto half = step(with({"train.batch=8"}), 8), whole = step(recipe(), 8);
  EXPECT_NEAR(whole.matmul, 2 * half.matmul, 1e-9);
  EXPECT_NEAR(whole.attention, 2 * half.attention, 1e-9);
  EXPECT_NEAR(whole.head, 2 * half.head, 1e-9);
  // One update, and one record of the states, for all of them.
  EXPECT_EQ(whole.optimizer, half.optimizer);
  EXPECT_LT(whole.elementwise, 2 * half.elementwise);
  EXPECT_NEAR(whole.elementwise, 2 * half.elementwise, 0.01 * whole.elementwise);
}

TEST(Time, EveryKindOfModelTakesPositiveTime) {
  for (const char* key :
       {"model.injection=none", "model.injection=scalar", "model.injection=channel",
        "model.injection=residual-channel", "model.loop_norm=false", "model.kv_heads=1",
        "model.qk_norm=gain", "model.logit_softcap=30", "model.logit_scale=0.5",
        "model.core_layers=0", "engine.fused=false", "data.document_mask=true",
        "data.sequence_length=1", "model.tied_head=true"}) {
    const auto seconds = step(with({key}));
    EXPECT_GT(seconds.total(), 0) << key;
    for (const double term : {seconds.matmul, seconds.attention, seconds.elementwise, seconds.head,
                              seconds.optimizer, seconds.overhead})
      EXPECT_GE(term, 0) << key;
  }
}

TEST(Time, RunsAreTheirStepsAndValidations) {
  const auto config = with({"train.steps=250", "train.validate_every=100"});
  const auto run = run_seconds(config, 256, 16, even_speed());
  EXPECT_NEAR(run.steps, 250 * step(config).total(), 1e-9);
  // Two validations of 16 passes of 4096 tokens before the sweep at the end, of 16 loops.
  const auto pass = [&](double count) {
    return forward_seconds(config, 256, 16, 256, count, 256, even_speed()).total();
  };
  EXPECT_GT(run.validation, 16 * (2 * pass(4) + pass(16)));
  EXPECT_LT(run.validation, 16 * (2 * pass(4) + 17 * pass(16)));
  const auto silent = with({"data.validation_tokens=0"});
  EXPECT_EQ(run_seconds(silent, 256, 16, even_speed()).validation, 0);
}

TEST(Time, SustainedFlopsTurnSecondsIntoFlops) {
  const double gflops = sustained_gflops(recipe(), 256, 16, even_speed());
  EXPECT_NEAR(gflops * 1e9 * step(recipe()).total(), flops_per_token(recipe()).train_matmul * 4096,
              1);
  EXPECT_LT(gflops, 100);
}

TEST(Time, ABlockOfAMeasuredShapeTakesItsMeasuredTime) {
  const auto pass = [](const char* layers) {
    const auto config = with({"model.d_model=64", "model.heads=1", "model.d_ff=176",
                              "model.core_layers=0", "data.sequence_length=128", layers});
    return forward_seconds(config, 256, 8, 128, 1, 128, even_speed()).total();
  };
  // Besides, the block's weights are packed: two or four of their values, 1 ns each.
  const double packing = (2 * 3 * 64 * 64 + 4 * 3 * 176 * 64) * 1e-9;
  EXPECT_NEAR(pass("model.prelude_layers=3") - pass("model.prelude_layers=2"), 3e-2 + packing,
              1e-7);
}

TEST(Time, AForwardPassIsTheForwardHalf) {
  const auto config = loops(4, 4, {"model.d_ff=688", "model.injection=none"});
  const auto pass = forward_seconds(config, 256, 16, 256, 4, 256, even_speed());
  const auto flops = flops_per_token(config);
  EXPECT_NEAR(pass.matmul, flops.train_matmul / 3 * 4096 / 100e9, 1e-9);
  EXPECT_NEAR(pass.attention, step(config).attention / 3, 1e-12);
  EXPECT_EQ(pass.optimizer, 0);
}

TEST(Time, AGeneratedTokenReadsTheWeightsOfEveryLoop) {
  const auto counts = count_parameters(recipe().model, 256);
  const auto at = [](double context, double count) {
    return decode_seconds(recipe(), 256, context, count, even_speed());
  };
  // 1 ns a weight.
  EXPECT_NEAR(at(100, 5).matmul - at(100, 4).matmul,
              1e-9 * static_cast<double>(counts.n_rec_matrices), 1e-9);
  EXPECT_NEAR(at(100, 4).head, 1e-9 * 256 * 256, 1e-9);
  // Keys and values of 1 + 2 · 4 + 1 layers: 1 ns each.
  EXPECT_NEAR(at(300, 4).attention, 1e-9 * 10 * 2 * 256 * 300, 1e-9);
}

}  // namespace
}  // namespace rondo
