// Back-propagation through time: segments against a graph cut by hand, finite differences, and what
// memory the decoder's activations take.
#include "model/rlt_training.h"

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <gtest/gtest.h>

#include "tests/model/support.h"

namespace rondo {
namespace {

using namespace testing_models;
using reference::check_gradient;
using reference::distance;

Tensor tokens(std::int64_t rows = 2, std::int64_t length = 12) {
  return tiny_input(rows, length).tokens_BT;
}

/// Mean cross-entropy against the next token, as a loss of segments.
StateLoss next_token_loss(const Rlt& model, const Tensor& tokens_BT) {
  const auto targets_BT = tokens_BT.roll(-1, 1);
  return [&model, targets_BT](const Tensor& state, std::int64_t first) {
    return summed_loss_of(model, state, targets_BT.narrow(1, first, state.size(1)).flatten()) /
           static_cast<double>(targets_BT.numel());
  };
}

std::map<std::string, Tensor> truncated_gradients(Rlt& model, const Truncation& truncation,
                                                  double* loss = nullptr) {
  return gradients_after(model, [&] {
    const RltPass pass(model, tokens());
    const double sum = back_propagate(pass, truncation, next_token_loss(model, tokens()));
    if (loss != nullptr) *loss = sum;
  });
}

void expect_equal(const std::map<std::string, Tensor>& got,
                  const std::map<std::string, Tensor>& wanted, double tolerance) {
  for (const auto& [name, gradient] : wanted)
    EXPECT_LE(distance(got.at(name), gradient), tolerance) << name;
}

const std::vector<Overrides> kVariants = {{},
                                          {"model.feedback_interval=4", "model.qk_norm=gain"},
                                          {"model.feedback_interval=2", "model.window=5"},
                                          {"model.feedback_interval=0"},
                                          {"model.decoder_layers=0"},
                                          {"model.encoder_layers=2", "model.share_blocks=true"}};

TEST(RltTraining, GradientsAgreeWithFiniteDifferences) {
  for (auto extra : kVariants) {
    extra.insert(extra.end(), {"model.logit_softcap=4", "model.logit_scale=2"});
    auto model = tiny_rlt(extra);
    const auto loss = [&] {
      return next_token_loss(model, tokens())(RltPass(model, tokens()).run(), 0);
    };
    visit_parameters(model, [&](const std::string& name, Parameter& parameter) {
      SCOPED_TRACE(name);
      check_gradient(loss, parameter.value, 1e-6, 3);
    });
  }
}

TEST(RltTraining, AWindowOfTheWholeSequenceCutsNothing) {
  for (const auto& extra : kVariants) {
    auto model = tiny_rlt(extra);
    const auto full = truncated_gradients(model, {.tokens = 0});
    for (const std::int64_t window : {12, 16, 1000})
      for (const auto& [name, gradient] : truncated_gradients(model, {.tokens = window}))
        EXPECT_TRUE(gradient.equal(full.at(name))) << name;
  }
}

TEST(RltTraining, SegmentsEqualAGraphCutByHand) {
  for (const auto& extra : kVariants)
    for (const bool memory : {false, true}) {
      SCOPED_TRACE(extra.empty() ? "" : extra[0]);
      auto model = tiny_rlt(extra);
      double loss = 0;
      const auto got = truncated_gradients(model, {.tokens = 4, .memory = memory}, &loss);

      // One graph of the whole sequence, with register and windows made constants by hand.
      double whole_loss = 0;
      const auto wanted = gradients_after(model, [&] {
        const RltPass pass(model, tokens());
        const auto segment_loss = next_token_loss(model, tokens());
        DecoderState state;
        Tensor sum = at::zeros({}, at::kDouble);
        for (std::int64_t first = 0; first < 12; first += 4) {
          if (state.register_BD.defined()) state.register_BD = state.register_BD.detach();
          for (auto& window : state.windows)
            window = {window.k_BGSK.detach(), window.v_BGSK.detach()};
          auto seen = pass.memory();
          if (memory && seen.k_BHSK.defined()) {
            const auto late = at::arange(12).ge(first).view({1, 1, 12, 1});
            seen.k_BHSK = at::where(late, seen.k_BHSK, seen.k_BHSK.detach());
            seen.v_BHSK = at::where(late, seen.v_BHSK, seen.v_BHSK.detach());
          }
          const auto states = run_core(pass.weights(), pass.setting(),
                                       pass.e_BTD().narrow(1, first, 4), seen, state);
          sum = sum + segment_loss(states, first);
        }
        back_propagate(sum);
        whole_loss = sum.item<double>();
      });
      EXPECT_NEAR(loss, whole_loss, 1e-13);
      expect_equal(got, wanted, 1e-12);
    }
}

TEST(RltTraining, CuttingOneWayLeavesTheOther) {
  auto model = tiny_rlt();
  const auto gradient = [&](const Truncation& truncation) {
    return truncated_gradients(model, truncation).at("merge.initial");
  };
  const auto both = gradient({.tokens = 4}), full = gradient({.tokens = 0});
  const auto state = gradient({.tokens = 4, .state = true, .kv = false});
  const auto kv = gradient({.tokens = 4, .state = false, .kv = true});
  EXPECT_GT(distance(state, both), 1e-6);
  EXPECT_GT(distance(kv, both), 1e-6);
  EXPECT_GT(distance(state, full), 1e-6);
  EXPECT_GT(distance(kv, full), 1e-6);
}

TEST(RltTraining, TheEncoderLearnsFromLaterSegmentsThroughTheMemory) {
  auto model = tiny_rlt();
  const auto kept = truncated_gradients(model, {.tokens = 4});
  const auto cut = truncated_gradients(model, {.tokens = 4, .memory = true});
  EXPECT_GT(distance(kept.at("memory.v.weight"), cut.at("memory.v.weight")), 1e-3);
}

TEST(RltTraining, AnotherIntervalThanTheModelsIsTrainedTheSame) {
  auto every = tiny_rlt(), chunks = tiny_rlt({"model.feedback_interval=4"});
  const auto with = [](Rlt& model, std::optional<std::int64_t> interval) {
    return gradients_after(model, [&] {
      const RltPass pass(model, tokens(), interval);
      back_propagate(pass, {.tokens = 4}, next_token_loss(model, tokens()));
    });
  };
  expect_equal(with(every, 4), with(chunks, {}), 1e-14);
}

/// Bytes of all tensors of this thread, now and at most.
class CountedMemory : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, std::int64_t size, std::size_t, std::size_t, c10::Device) override {
    now += size;
    most = std::max(most, now);
  }
  [[nodiscard]] bool memoryProfilingEnabled() const override { return true; }

  std::int64_t now = 0, most = 0;
};

/// What a step takes beyond what is there once encoder and memory have run.
struct DecoderBytes {
  double kept = 0;  ///< at most at the end of a segment's forward pass: its activations
  double peak = 0;  ///< at most until the last segment begins, backward passes of others included
};

DecoderBytes decoder_bytes(Rlt& model, const Tensor& tokens_BT, std::int64_t window) {
  DecoderBytes bytes;
  gradients_after(model, [&] {
    // Gradients of the weights are there from the start, as they are after the first micro-batch.
    visit_parameters(model, [](const std::string&, Parameter& p) {
      p.value.mutable_grad() = at::zeros_like(p.value);
    });
    const auto memory = std::make_shared<CountedMemory>();
    const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, memory);
    const RltPass pass(model, tokens_BT);
    const auto before = memory->now;
    memory->most = before;
    // Gradients of encoder output, keys and values that are gathered over the segments are no
    // activations of the decoder.
    const auto gathered = 3 * pass.e_BTD().numel() * pass.e_BTD().element_size();
    // Nor are those of the weights, which are there from the first backward pass on.
    std::vector<Tensor> weights;
    pass.weights().append_to(weights);
    std::int64_t learnt = 0;
    for (const auto& weight : weights) learnt += weight.numel() * weight.element_size();
    const auto loss = next_token_loss(model, tokens_BT);
    back_propagate(pass, {.tokens = window}, [&](const Tensor& state, std::int64_t first) {
      const auto others = gathered + (first > 0 ? learnt : 0);
      bytes.kept = std::max(bytes.kept, static_cast<double>(memory->now - before - others));
      bytes.peak = static_cast<double>(memory->most - before - others);
      return loss(state, first);
    });
  });
  return bytes;
}

TEST(RltTraining, MemoryFallsWithTheWindow) {
  auto model = tiny_rlt({"model.d_model=64", "model.heads=4", "model.kv_heads=4", "model.d_ff=170",
                         "model.window=8", "model.decoder_layers=2", "model.vocab=32"},
                        at::kFloat);
  const auto full = decoder_bytes(model, tokens(4, 512), 0);
  const auto cut = decoder_bytes(model, tokens(4, 512), 16);
  EXPECT_LE(cut.kept, full.kept / 16) << full.kept << " and " << cut.kept;
  EXPECT_LE(cut.peak, full.kept / 10) << full.kept << " and " << cut.peak;
}

}  // namespace
}  // namespace rondo
