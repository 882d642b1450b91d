// The fused recurrent core in single precision against the composed one in double: states, every
// gradient, calls in pieces, and what it keeps.
#include "model/rlt_fused.h"

#include <gtest/gtest.h>

#include "model/rlt.h"
#include "model/rlt_tape.h"
#include "model/rlt_training.h"
#include "tensor/gemm.h"
#include "tests/reference/compare.h"

namespace rondo {
namespace {

ModelConfig small() {
  ModelConfig config;
  config.kind = ModelKind::kRlt;
  config.d_model = 16;
  config.heads = config.kv_heads = 2;
  config.head_dim = 8;
  config.d_ff = 21;
  config.vocab = 11;
  config.encoder_layers = 1;
  config.decoder_layers = 2;
  config.feedback_interval = 1;
  config.window = 3;
  config.merge_scale = 0.7;
  return config;
}

// What single precision may be off by in gradients: those of keys nearly cancel over long windows.
constexpr double kSlopes = 2e-5;

struct Case {
  const char* name;
  void (*change)(ModelConfig&);
};

const Case kCases[] = {
    {"Plain", [](ModelConfig&) {}},
    {"ChunksOfFour", [](ModelConfig& c) { c.feedback_interval = 4; }},
    {"NoFeedback", [](ModelConfig& c) { c.feedback_interval = 0; }},
    {"NoDecoder", [](ModelConfig& c) { c.decoder_layers = 0; }},
    {"NoDecoderChunks", [](ModelConfig& c) { c.decoder_layers = 0, c.feedback_interval = 4; }},
    {"NormAfterRope", [](ModelConfig& c) { c.qk_norm = QkNorm::kGain; }},
    {"PlainNorm", [](ModelConfig& c) { c.qk_norm = QkNorm::kPlain, c.feedback_interval = 4; }},
    {"NormBeforeRope",
     [](ModelConfig& c) {
       c.qk_norm = QkNorm::kGain;
       c.qk_norm_order = QkNormOrder::kBeforeRope;
     }},
    {"SharedKeys", [](ModelConfig& c) { c.kv_heads = 1, c.qk_norm = QkNorm::kGain; }},
    {"WindowOfOne", [](ModelConfig& c) { c.window = 1; }},
    {"WindowOfAll", [](ModelConfig& c) { c.window = 40, c.feedback_interval = 4; }},
};

Rlt model_of(const ModelConfig& config, at::ScalarType type, Form form) {
  auto model = make_rlt(config);
  double seed = 0;
  visit_parameters(model, [&](const std::string&, Parameter& parameter) {
    auto value = reference::values(parameter.shape, seed += 1.0) * 0.35;
    if (parameter.role == Role::kGain) value = value * 0.5 + 1.0;
    parameter.value = value.to(type).requires_grad_(true);
  });
  model.form = form;
  return model;
}

double relative(const Tensor& found, const Tensor& expected) {
  return (found.to(at::kDouble) - expected).abs().max().item<double>() /
         (expected.abs().max().item<double>() + 1e-30);
}

class RltFused : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    config_ = small();
    GetParam().change(config_);
    tokens_BT_ = at::arange(3 * 10, at::kLong).remainder(11).view({3, 10});
  }
  void TearDown() override { use_gemm(Gemm::kLibtorch); }

  ModelConfig config_;
  Tensor tokens_BT_;
};

/// Gradients of `model` against those of `exact`.
void compare_gradients(const Rlt& model, const Rlt& exact) {
  std::vector<Tensor> wanted;
  visit_parameters(exact, [&](const std::string&, const Parameter& parameter) {
    wanted.push_back(parameter.value.grad());
  });
  std::size_t next = 0;
  visit_parameters(model, [&](const std::string& name, const Parameter& parameter) {
    const auto& slope = wanted[next++];
    const auto& mine = parameter.value.grad();
    ASSERT_EQ(mine.defined(), slope.defined()) << name;
    // A window of one position makes the slopes of its scores vanish.
    if (slope.defined() && slope.abs().max().item<double>() > 1e-9) {
      EXPECT_LE(relative(mine, slope), kSlopes) << name;
    }
  });
}

TEST_P(RltFused, EqualsComposed) {
  const auto exact = model_of(config_, at::kDouble, Form::kComposed);
  const auto expected = RltPass(exact, tokens_BT_).run();
  const auto probe = reference::values(expected.sizes().vec(), 7.0);
  back_propagate((expected * probe).sum());
  for (const auto gemm : {Gemm::kLibtorch, Gemm::kOneDnn}) {
    use_gemm(gemm);
    const auto model = model_of(config_, at::kFloat, Form::kFused);
    const auto found = RltPass(model, tokens_BT_).run();
    EXPECT_LE(relative(found.detach(), expected.detach()), 1e-5);
    back_propagate((found * probe.to(at::kFloat)).sum());
    compare_gradients(model, exact);
  }
}

// Sequences of 10, 7, 7, 3 and 1 positions without filling against padded ones whose filling has
// no part in the loss.
TEST_P(RltFused, UnevenSequencesEqualPaddedOnes) {
  const std::vector<std::int64_t> lengths = {10, 7, 7, 3, 1};
  const auto padded_BT = at::arange(5 * 10, at::kLong).mul(7).remainder(11).view({5, 10});
  std::vector<std::int64_t> places;  // in [B, T]
  for (std::int64_t b = 0; b < 5; ++b)
    for (std::int64_t t = 0; t < lengths[static_cast<std::size_t>(b)]; ++t)
      places.push_back(b * 10 + t);
  const auto of_rows = [&, index = at::tensor(places)](const Tensor& x_BTx) {
    return x_BTx.flatten(0, 1).index_select(0, index).unsqueeze(0);
  };
  const auto exact = model_of(config_, at::kDouble, Form::kComposed);
  const auto expected = of_rows(RltPass(exact, padded_BT).run());
  const auto probe = reference::values(expected.sizes().vec(), 7.0);
  back_propagate((expected * probe).sum());
  for (const auto gemm : {Gemm::kLibtorch, Gemm::kOneDnn}) {
    use_gemm(gemm);
    const auto model = model_of(config_, at::kFloat, Form::kFused);
    const RltPass pass(model, of_rows(padded_BT), {}, lengths);
    EXPECT_EQ(pass.e_BTD().size(1), 28);
    double loss = 0;
    Tensor found;
    loss = back_propagate(pass, {.tokens = 4}, [&](const Tensor& state, std::int64_t) {
      found = state.detach();
      return (state * probe.to(at::kFloat)).sum();
    });
    EXPECT_LE(relative(found, expected.detach()), 1e-5);
    EXPECT_NEAR(loss, (expected * probe).sum().item<double>(), 1e-3);
    compare_gradients(model, exact);
  }
}

// The op is really what ran: its node stands in the graph, and none that the composed form makes.
TEST_P(RltFused, IsOneNode) {
  const auto model = model_of(config_, at::kFloat, Form::kFused);
  const auto states = RltPass(model, tokens_BT_).run();
  EXPECT_NE(states.grad_fn()->name().find("FusedCore"), std::string::npos);
}

// Cut anywhere, without gradients, into calls of several tokens: the same states.
TEST_P(RltFused, PiecesEqualTheWhole) {
  const auto model = model_of(config_, at::kFloat, Form::kFused);
  const NoGrad guard;
  const RltPass pass(model, tokens_BT_);
  const auto whole = pass.run();
  for (const std::int64_t piece : {1, 3, 4, 7}) {
    DecoderState state;
    std::vector<Tensor> parts;
    for (std::int64_t first = 0; first < 10; first += piece) {
      const auto count = std::min<std::int64_t>(piece, 10 - first);
      parts.push_back(run_core(pass.weights(), pass.setting(), pass.e_BTD().narrow(1, first, count),
                               pass.memory(), state));
    }
    EXPECT_LE(relative(at::cat(parts, 1), whole.to(at::kDouble)), 1e-5) << piece;
    EXPECT_EQ(state.position, 10);
  }
}

// Truncated back-propagation by segments: as the composed form.
TEST_P(RltFused, SegmentsEqualComposed) {
  const Truncation truncation{.tokens = 4, .state = true, .kv = true, .memory = false};
  const auto run = [&](at::ScalarType type, Form form) {
    const auto model = model_of(config_, type, form);
    const RltPass pass(model, tokens_BT_);
    back_propagate(pass, truncation, [&](const Tensor& states_BTD, std::int64_t first) {
      return (states_BTD * (0.3 + 0.1 * static_cast<double>(first))).sum();
    });
    std::vector<Tensor> slopes;
    visit_parameters(model, [&](const std::string&, const Parameter& parameter) {
      slopes.push_back(parameter.value.grad());
    });
    return slopes;
  };
  const auto expected = run(at::kDouble, Form::kComposed), found = run(at::kFloat, Form::kFused);
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (expected[i].defined() && expected[i].abs().max().item<double>() > 1e-9) {
      EXPECT_LE(relative(found[i], expected[i]), kSlopes) << i;
    }
}

TEST_P(RltFused, InBf16NearTheExact) {
  const auto exact = model_of(config_, at::kDouble, Form::kComposed);
  const auto expected = RltPass(exact, tokens_BT_).run();
  const FactorScope scope(Factors::kBf16Emulated);
  const auto model = model_of(config_, at::kFloat, Form::kFused);
  const auto found = RltPass(model, tokens_BT_).run();
  back_propagate(found.sum());
  EXPECT_LE(relative(found.detach(), expected.detach()), 0.1);
  EXPECT_GE(relative(found.detach(), expected.detach()), 1e-5) << "nothing was rounded";
}

INSTANTIATE_TEST_SUITE_P(Cases, RltFused, testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

TEST(RltChunks, AreCountedFromTheFirstPosition) {
  const auto chunks = chunks_of(/*position=*/6, /*length=*/7, /*interval=*/4);
  ASSERT_EQ(chunks.size(), 3U);
  EXPECT_EQ(chunks[0].count, 2);
  EXPECT_TRUE(chunks[0].completes);
  EXPECT_EQ(chunks[1].count, 4);
  EXPECT_EQ(chunks[2].count, 1);
  EXPECT_FALSE(chunks[2].completes);
}

}  // namespace
}  // namespace rondo
