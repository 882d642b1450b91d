// Memory: closed forms, and that it follows the back-propagated loops and not the loops run.
#include "cost/memory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/cost/recipes.h"

namespace rondo {
namespace {

using test::recipe;
using test::with;

Config loops(std::int64_t forward, std::int64_t backward, Overrides more = {}) {
  more.push_back(fmt::format("loops.forward={}", forward));
  more.push_back(fmt::format("loops.backward={}", backward));
  return with(more);
}

ActivationBytes activations(const Config& config, std::int64_t micro_batch = 1) {
  return activation_bytes(config, 256, {.micro_batch = micro_batch});
}

TEST(Memory, OneBlockOfTheDefaultRecipe) {
  const auto block = block_activations(recipe().model, 256, true);
  EXPECT_EQ(block.residuals, 2 * 256);
  EXPECT_EQ(block.norms, 0);
  EXPECT_EQ(block.qk_norm, 0);
  EXPECT_EQ(block.attention, 4 * 256 + 2 * 4);
  EXPECT_EQ(block.scores, 0);
  EXPECT_EQ(block.mlp, 2 * 683);
  const auto composed = block_activations(recipe().model, 256, false);
  EXPECT_EQ(composed.norms, 4 * 256 + 2);
  EXPECT_EQ(composed.attention, 7 * 256 + 2 * 4);
  EXPECT_EQ(composed.scores, 4 * 256);
  EXPECT_EQ(composed.mlp, 4 * 683);
  EXPECT_EQ(block_activations(with({"model.qk_norm=plain"}).model, 256, true).qk_norm, 8);
  EXPECT_EQ(block_activations(with({"model.qk_norm=plain"}).model, 256, false).qk_norm, 8 * 65);
}

TEST(Memory, ActivationsFollowBackwardAndNotForwardLoops) {
  const auto two = activations(loops(2, 2)), truncated = activations(loops(32, 2));
  EXPECT_EQ(truncated.total(), two.total());
  EXPECT_EQ(activations(loops(32, 4)).loops, 2 * two.loops);
  EXPECT_EQ(activations(loops(4, 0)).loops, activations(loops(4, 4)).loops);
}

TEST(Memory, RecomputingKeepsOneStateALoopAndOneLoop) {
  const double state = 256 * 4.0 * 256;  // tokens · bytes · width
  const auto few = activations(loops(2, 2, {"loops.recompute=true"}));
  const auto many = activations(loops(12, 12, {"loops.recompute=true"}));
  EXPECT_DOUBLE_EQ(many.loops - few.loops, 10 * state);
  EXPECT_LT(many.loops, activations(loops(12, 12)).loops / 5);
}

TEST(Memory, ConditioningKeepsWhatItMultiplies) {
  const double state = 256 * 4.0 * 256;  // tokens · bytes · width, once per loop
  const auto added = [](Overrides more, std::int64_t backward) {
    const auto with_norm = [&](Overrides keys) {
      keys.push_back("model.injection=none");
      return activations(loops(4, backward, keys)).loops;
    };
    return with_norm(more) - with_norm({});
  };
  EXPECT_DOUBLE_EQ(added({"model.history=channel", "model.history_window=3"}, 2), 2 * state);
  EXPECT_DOUBLE_EQ(added({"model.history=dense", "model.history_window=3"}, 2), 2 * 4 * state);
  EXPECT_DOUBLE_EQ(added({"model.timestep=loop-gate"}, 4), 4 * 2 * state);
  // Two core layers of two branches.
  EXPECT_DOUBLE_EQ(added({"model.timestep=branch-gate"}, 4), 4 * 4 * state);
  EXPECT_DOUBLE_EQ(added({"model.timestep=adaln"}, 4), 4 * 4 * state);
}

TEST(Memory, SampledLoopsCountTheLargestDraw) {
  const auto sampled = loops(4, 0, {"loops.sampler=uniform", "loops.max=100"});
  EXPECT_EQ(activations(sampled).loops, activations(loops(7, 7)).loops);
  const auto truncated = loops(4, 2, {"loops.sampler=poisson-lognormal"});
  EXPECT_EQ(activations(truncated).loops, activations(loops(4, 2)).loops);
}

TEST(Memory, IsLinearInTheMicroBatch) {
  // Beyond 2048 tokens, which the engine works on at once; up to rounding to whole bytes.
  const auto total = [](std::int64_t rows) { return activations(recipe(), rows).total(); };
  EXPECT_NEAR(total(32) - total(16), 2 * (total(24) - total(16)), 2);
}

TEST(Memory, CodaAndLossTakeSomeSequencesAtATime) {
  const auto once = [](std::int64_t rows, Overrides more) {
    return activation_bytes(with(std::move(more)), 256, {.micro_batch = rows}).once;
  };
  const auto coda = [&](std::int64_t rows, Overrides more) {
    Overrides none = more;
    none.push_back("model.coda_layers=0");
    return once(rows, std::move(more)) - once(rows, std::move(none));
  };
  EXPECT_EQ(coda(16, {}), coda(2, {}));
  EXPECT_EQ(coda(2, {}), 2 * coda(1, {}));
  EXPECT_EQ(coda(16, {"engine.fused=false"}), 16 * coda(1, {"engine.fused=false"}));
}

TEST(Memory, PartsOfTheHeadBoundItsLogits) {
  const auto fused = with({"model.vocab=50000"});
  // The last state, its gradient, and that of the head's weights in two places.
  const double hidden = 2 * (16 * 256 + 50000) * 256 * 4.0;
  EXPECT_DOUBLE_EQ(activation_bytes(fused, 50000, {.micro_batch = 16}).head,
                   16 * 50000 * 4.0 + hidden);
  const auto config = with({"model.vocab=50000", "engine.fused=false"});
  const MemoryOptions whole{.micro_batch = 16},
      chunked{.micro_batch = 16, .head_chunk_tokens = 512};
  const auto a = activation_bytes(config, 50000, whole),
             b = activation_bytes(config, 50000, chunked);
  EXPECT_DOUBLE_EQ(a.head, 16 * 256 * 3 * 50000 * 4.0 + hidden);
  EXPECT_DOUBLE_EQ(b.head, 512 * 3 * 50000 * 4.0 + hidden);
  EXPECT_LT(b.total(), a.total());
}

TEST(Memory, WeightsGradientsAndMoments) {
  const auto bytes = memory_bytes(recipe(), 256, {});
  EXPECT_EQ(bytes.weights, 4 * 3411456.0);
  EXPECT_EQ(bytes.gradients, bytes.weights);
  EXPECT_EQ(bytes.optimizer, 2 * bytes.weights);
  EXPECT_DOUBLE_EQ(bytes.total(), 4 * bytes.weights + bytes.activations);
}

TEST(Memory, KvCacheCountsEveryLoop) {
  // 1 + 2·4 + 1 layers, two of keys and values, 2 heads of 64, 4 bytes.
  const auto config = with({"model.kv_heads=2"});
  EXPECT_EQ(kv_cache_bytes_per_token(config.model, 4), 10 * 2 * 2 * 64 * 4);
  EXPECT_EQ(memory_bytes(config, 256, {}).kv_cache_per_token, 10 * 2 * 2 * 64 * 4);
}

TEST(Memory, TheLargestMicroBatchDividesTheBatchAndFits) {
  const auto config = with({"train.batch=48"});
  const auto needed = [&](std::int64_t size) {
    return memory_bytes(config, 256, {.micro_batch = size}).total();
  };
  EXPECT_EQ(largest_micro_batch(config, 256, needed(48)), 48);
  EXPECT_EQ(largest_micro_batch(config, 256, needed(48) - 1), 24);
  EXPECT_EQ(largest_micro_batch(config, 256, needed(23)), 16);
  EXPECT_EQ(largest_micro_batch(config, 256, needed(1)), 1);
  EXPECT_EQ(largest_micro_batch(config, 256, needed(1) - 1), 0);
  // Prime batches leave the ends only.
  EXPECT_EQ(largest_micro_batch(with({"train.batch=47"}), 256, needed(46)), 1);
}

}  // namespace
}  // namespace rondo
