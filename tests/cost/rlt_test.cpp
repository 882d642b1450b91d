// The recurrent looped transformer's counts against the published sizes (arXiv 2610.07591), its
// FLOPs against a count token by token, its stages and how far its gradients go.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cost/describe.h"
#include "cost/flops.h"
#include "cost/horizon.h"
#include "cost/memory.h"
#include "cost/time.h"
#include "tests/cost/recipes.h"
#include "tests/cost/speeds.h"

namespace rondo {
namespace {

using test::with;

/// The paper's model at a split of its layers.
Config published(std::int64_t encoder, std::int64_t decoder, std::int64_t interval = 1) {
  return with({"model.kind=rlt", "model.d_model=512", "model.heads=4", "model.qk_norm=gain",
               "model.tied_head=true", "model.vocab=277",
               fmt::format("model.encoder_layers={}", encoder),
               fmt::format("model.decoder_layers={}", decoder),
               fmt::format("model.feedback_interval={}", interval)});
}

std::int64_t total_of(const Config& config) { return count_parameters(config.model, 277).total; }

TEST(RltCounts, AreThePublishedOnes) {
  EXPECT_EQ(total_of(published(4, 4)), 28'726'912);
  EXPECT_EQ(total_of(published(5, 3)), 28'201'984);
  EXPECT_EQ(total_of(published(6, 2)), 27'677'056);
  EXPECT_EQ(total_of(published(7, 1)), 27'152'128);
  EXPECT_EQ(total_of(published(8, 0)), 26'102'272);
  EXPECT_EQ(total_of(published(4, 4, 0)), 27'938'944);
  for (const std::int64_t interval : {2, 4, 8, 1000})
    EXPECT_EQ(total_of(published(4, 4, interval)), 28'726'912);
  for (std::int64_t decoder = 0; decoder <= 4; ++decoder)
    EXPECT_EQ(
        total_of(published(8 - decoder, decoder)) - total_of(published(8 - decoder, decoder, 0)),
        787'968);
  const auto transformer = with(
      {"model.d_model=512", "model.heads=4", "model.qk_norm=gain", "model.tied_head=true",
       "model.vocab=277", "model.prelude_layers=8", "model.core_layers=0", "model.coda_layers=0",
       "model.injection=none", "model.loop_norm=false", "loops.forward=1", "loops.backward=1"});
  EXPECT_EQ(total_of(transformer), 25'314'304);
  EXPECT_EQ(total_of(published(8, 0, 0)), 25'314'304);
}

TEST(RltCounts, GroupsAreWhatTheyAreNamedFor) {
  const auto counts = count_parameters(published(5, 3).model, 277);
  const std::int64_t layer = 4 * 512 * 512 + 3 * 512 * 1365, gains = 2 * 512 + 2 * 128;
  EXPECT_EQ(counts.embedding, 277 * 512);
  EXPECT_EQ(counts.n_once_matrices, 5 * layer + 2 * 512 * 512);
  EXPECT_EQ(counts.n_rec_matrices, 3 * (layer + 2 * 512 * 512) + 3 * 512 * 512);
  EXPECT_EQ(counts.once, counts.n_once_matrices + 5 * gains + 512 + 128 + 512);
  EXPECT_EQ(counts.recurrent, counts.n_rec_matrices + 3 * (gains + 512 + 128) + 3 * 512);
}

TEST(RltCounts, SharedBlocksCountOnce) {
  auto shared = published(4, 4);
  shared.model.share_blocks = true;
  EXPECT_EQ(total_of(published(4, 4)) - total_of(shared), 4 * (4 * 512 * 512 + 3 * 512 * 1365));
}

TEST(RltFlops, CountWhatEveryTokenSees) {
  for (const std::int64_t window : {1, 8, 40, 100})
    for (const std::int64_t decoder : {0, 3}) {
      auto config = published(5, decoder);
      config.model.window = window;
      config.data.sequence_length = 40;
      double seen = 0;  // positions over all tokens and layers
      for (std::int64_t t = 1; t <= 40; ++t)
        seen += static_cast<double>(5 * t + decoder * (std::min(window, t) + t));
      const auto counts = count_parameters(config.model, 277);
      const auto matrices = static_cast<double>(counts.n_once_matrices + counts.n_rec_matrices);
      const double attention = 4.0 * 512 * seen / 40, head = 2.0 * 277 * 512;
      const auto flops = flops_per_token(config);
      EXPECT_DOUBLE_EQ(flops.train_matmul, 6.0 * matrices);
      EXPECT_NEAR(flops.train_attention, 3 * attention, 1e-6 * attention + 1e-9);
      EXPECT_DOUBLE_EQ(flops.train_head, 3 * head);
      EXPECT_NEAR(flops.forward, 2 * matrices + attention + head, 1e-3);
      EXPECT_NEAR(flops.train, 3 * flops.forward, 1e-2);
    }
}

TEST(RltStages, FollowTheInterval) {
  auto config = published(4, 4, 4);
  config.data.sequence_length = 42;
  auto stages = sequential_stages(config);
  EXPECT_EQ(stages.stages, 11 * 4);
  EXPECT_EQ(stages.at_every_token, 42 * 4);
  EXPECT_EQ(stages.parallel, 4);
  EXPECT_EQ(stages.back_propagated, 11 * 4);
  config.train.bptt_tokens = 8;
  EXPECT_EQ(sequential_stages(config).back_propagated, 2 * 4);
  config.model.feedback_interval = 0;
  EXPECT_EQ(sequential_stages(config).stages, 4);
  config.model.feedback_interval = 1;
  EXPECT_EQ(sequential_stages(config).stages, 42 * 4);
}

TEST(RltHorizon, IsWhatIsCutAtOnce) {
  auto config = published(4, 4);
  EXPECT_EQ(gradient_horizon(config).loops, 1);
  EXPECT_EQ(gradient_horizon(config).tokens, 256);
  config.train.bptt_tokens = 16;
  EXPECT_EQ(gradient_horizon(config).tokens, 16);
  EXPECT_EQ(gradient_horizon(config).groups[0].sentence,
            "through the decoder's input and the memory of all tokens before");
  config.train.bptt_detach = {BpttPart::kState, BpttPart::kKv, BpttPart::kMemory};
  EXPECT_EQ(gradient_horizon(config).groups[0].sentence,
            "through the decoder's input and the memory of up to 16 tokens");
  // One way that is not cut leads back to the first token.
  config.train.bptt_detach = {BpttPart::kState};
  EXPECT_EQ(gradient_horizon(config).tokens, 256);
}

TEST(RltMemory, FallsWithTheWindowAndGrowsWithWhatIsKept) {
  auto config = published(4, 4);
  config.data.sequence_length = 512;
  const auto loops = [&] { return activation_bytes(config, 277, {.micro_batch = 4}).loops; };
  const double full = loops();
  config.train.bptt_tokens = 16;
  EXPECT_NEAR(loops(), full / 32, 1e-6 * full);
  config.train.bptt_detach = {BpttPart::kKv};
  EXPECT_NEAR(loops(), full, 1e-6 * full);
  // Keys and values of encoder and memory; windows do not grow.
  EXPECT_EQ(kv_cache_bytes_per_token(config.model, 1), 4.0 * (4 * 2 * 512 + 2 * 512));
}

TEST(RltTime, FewerStagesTakeLess) {
  const auto speed = test::even_speed();
  double before = 0;
  for (const std::int64_t interval : {0, 16, 4, 1}) {
    auto config = published(4, 4, interval);
    config.train.micro_batch = 16;
    const double seconds = step_seconds(config, 277, 16, speed).total();
    EXPECT_GT(seconds, before) << interval;
    before = seconds;
  }
}

TEST(RltDescription, SaysWhatRunsInSequence) {
  const auto about = describe(published(4, 4));
  EXPECT_EQ(about["decoder_stages"]["sequential"], 1024);
  EXPECT_EQ(about["effective_depth"], 8);
  EXPECT_EQ(about["inference"].size(), 1U);
  EXPECT_EQ(about["optimizer_groups"][2]["tensors"], "norm gains, gate bias, first state");
  const auto text = describe_text(published(4, 4));
  EXPECT_NE(text.find("sequential decoder stages"), std::string::npos);
  EXPECT_NE(text.find("encoder, memory, final norm"), std::string::npos);
}

}  // namespace
}  // namespace rondo
