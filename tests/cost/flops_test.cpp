// FLOPs against closed forms worked out here, and against how the published code bases count.
#include "cost/flops.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "cost/time.h"
#include "tests/cost/recipes.h"

namespace rondo {
namespace {

using test::with;

Config loops(std::int64_t forward, std::int64_t backward) {
  return with(
      {fmt::format("loops.forward={}", forward), fmt::format("loops.backward={}", backward)});
}

constexpr double kOnce = 2 * 786688.0, kRec = 2 * 786688.0 + 2 * 256 * 256;

TEST(Flops, TheDefaultRecipe) {
  const auto flops = flops_per_token(loops(4, 2));
  EXPECT_EQ(flops.train_matmul, 6 * kOnce + 2 * (4 + 2 * 2) * kRec);
  // 4 · 256 · 257 / 2 a layer and pass; two layers outside, two inside.
  EXPECT_EQ(flops.train_attention, 131584.0 * (3 * 2 + 2 * (4 + 2 * 2)));
  EXPECT_EQ(flops.train_head, 6 * 256 * 256);
  EXPECT_EQ(flops.train, flops.train_matmul + flops.train_attention + flops.train_head);
  EXPECT_EQ(flops.forward, 2 * (kOnce + 4 * kRec) + 131584.0 * (2 + 2 * 4) + 2 * 256 * 256);
}

TEST(Flops, AttentionCountsHeadsTimesHeadWidthAndNotTheModelsWidth) {
  const auto flops =
      flops_per_token(with({"model.d_model=14", "model.heads=4", "model.kv_heads=2",
                            "model.head_dim=6", "data.sequence_length=11", "loops.forward=1",
                            "model.prelude_layers=0", "model.coda_layers=0"}));
  EXPECT_EQ(flops.train_attention, 3 * 2 * 4 * 24 * 6.0);
}

TEST(Flops, OneLoopFullyTrainedIsSixTimesTheParameters) {
  const auto flops = flops_per_token(loops(1, 1));
  EXPECT_EQ(flops.train_matmul, 6 * (kOnce + kRec));
  EXPECT_EQ(flops.train, 3 * flops.forward);
}

TEST(Flops, ZeroOrMoreBackwardThanForwardLoopsMeansAll) {
  const double full = flops_per_token(loops(3, 3)).train;
  EXPECT_EQ(flops_per_token(loops(3, 7)).train, full);
  EXPECT_EQ(flops_per_token(loops(3, 0)).train, full);
  EXPECT_LT(flops_per_token(loops(3, 2)).train, full);
}

TEST(Flops, EqualForEqualSumOfForwardAndTwiceBackward) {
  const auto deep = flops_per_token(loops(8, 2)), shallow = flops_per_token(loops(4, 4));
  EXPECT_EQ(deep.train_matmul, shallow.train_matmul);
  EXPECT_EQ(deep.train_attention, shallow.train_attention);
  EXPECT_GT(deep.forward, shallow.forward);
}

TEST(Flops, AgreeWithTheCodeBasesThatCountTruncation) {
  for (int t = 1; t <= 12; ++t) {
    for (int b = 1; b <= 15; ++b) {
      const double ours = flops_per_token(loops(t, b)).train_matmul;
      const int k = std::min(b, t);  // nanoLOOP: min(k, loops)
      // looped-lm-scaling: forward only for the first loops, all three passes for the last ones.
      EXPECT_EQ(ours, (2.0 * (t - k) + 6.0 * k) * kRec + 6 * kOnce);
      // parcae: forward and backward of the core apart.
      EXPECT_EQ(ours, 2 * kRec * t + 4 * kRec * k + 6 * kOnce);
    }
  }
}

TEST(Flops, DifferFromTheCountThatIgnoresTruncationByFourPerUntrainedLoop) {
  for (int b = 1; b <= 8; ++b) {
    const double untruncated = 6 * kOnce + 6 * 8 * kRec;  // looped_nanochat
    EXPECT_EQ(untruncated - flops_per_token(loops(8, b)).train_matmul, 4 * (8 - b) * kRec);
  }
}

TEST(Flops, OfThePriorLaw) {
  // arXiv 2604.21106 counts N_rec = 12 d² a layer + 2 d²; d = 192 makes our MLP exactly 8 d².
  const auto config =
      with({"model.d_model=192", "model.heads=3", "loops.forward=4", "loops.backward=2"});
  const double square = 192 * 192, once = 2 * 12 * square, rec = 2 * 12 * square + 2 * square;
  EXPECT_EQ(flops_per_token(config).train_matmul, (2 * (4 - 2) + 6 * 2) * rec + 6 * once);
}

TEST(Flops, ExpectedOnesAverageOverTheDraws) {
  const auto config =
      with({"loops.sampler=uniform", "loops.forward=3", "loops.backward=2", "loops.max=100"});
  double sum = 0;
  for (int t = 1; t <= 5; ++t) sum += flops_per_token(loops(t, 2)).train;
  EXPECT_NEAR(expected_flops_per_token(config).train, sum / 5, 1e-6 * sum);
  EXPECT_EQ(flops_per_token(config).train, flops_per_token(loops(3, 2)).train);
  EXPECT_EQ(expected_flops_per_token(loops(3, 2)).train, flops_per_token(loops(3, 2)).train);
}

TEST(Flops, TheFormulaShowsItsNumbers) {
  const std::string text = flops_formula(loops(4, 2));
  for (const char* part :
       {"6 N_once + 2 (T + 2B) N_rec", "6 · 1573376 + 2 (4 + 2·2) 1704448", "36.71 M",
        "4 · 256 · 257/2 · (3·2 + (4 + 2·2) 2)", "6 V D = 6 · 256 · 256"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in\n" << text;
}

TEST(Time, FollowsRoofAndEfficiency) {
  EXPECT_DOUBLE_EQ(seconds_for(120e9, {.roof_gflops = 120, .efficiency = 0.5}), 2.0);
  EXPECT_DOUBLE_EQ(roof_share(120e9, 2.0, 120), 0.5);
  EXPECT_THROW(seconds_for(1, {.roof_gflops = 0}), Error);
  EXPECT_THROW(seconds_for(1, {.roof_gflops = 1, .efficiency = 1.5}), Error);
}

}  // namespace
}  // namespace rondo
