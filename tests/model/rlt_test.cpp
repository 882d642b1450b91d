// What must be equal in a recurrent looped transformer: chunks of one token and feedback at every
// token, reading at once and bit by bit, causality; counts against the cost model and the published
// sizes.
#include "model/rlt.h"

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "cost/parameters.h"
#include "model/rlt_session.h"
#include "tests/model/support.h"

namespace rondo {
namespace {

using namespace testing_models;
using reference::distance;

Tensor tokens(std::int64_t rows = 2, std::int64_t length = 11) {
  return tiny_input(rows, length).tokens_BT;
}

Tensor states_of(const Rlt& model, const Tensor& tokens_BT,
                 std::optional<std::int64_t> interval = {}) {
  return RltPass(model, tokens_BT, interval).run();
}

/// The model written down token by token without a chunk, a cache or a window: everything that a
/// token sees is looked up among the states of all tokens before it.
Tensor by_the_definition(const Rlt& model, const Tensor& tokens_BT) {
  const NoGrad guard;
  const auto& config = model.config;
  const RltPass pass(model, tokens_BT);
  const auto& weights = pass.weights();
  const auto length = tokens_BT.size(1), interval = config.feedback_interval;
  std::vector<std::vector<Tensor>> inputs(weights.decoder.size());  // by layer and token
  std::vector<Tensor> states;
  for (std::int64_t t = 0; t < length; ++t) {
    auto z = pass.e_BTD().narrow(1, t, 1);
    if (model.merge) {
      const auto chunk_start = t - t % interval;
      const auto h = chunk_start == 0 ? model.merge->initial.value.expand({z.size(0), 1, -1})
                                      : states[static_cast<std::size_t>(chunk_start - 1)];
      const auto r = rms_norm(h, model.merge->norm.weight.value, config.norm_eps, Form::kComposed);
      const auto gate = at::sigmoid(at::linear(at::cat({z, r}, -1), model.merge->gate.weight.value,
                                               model.merge->gate.bias.value));
      z = z + config.merge_scale * gate * at::linear(r, model.merge->state.weight.value);
    }
    for (std::size_t l = 0; l < weights.decoder.size(); ++l) {
      const auto& layer = weights.decoder[l];
      inputs[l].push_back(z);
      const auto first = std::max<std::int64_t>(0, t - config.window + 1), n = t - first + 1;
      std::vector<Tensor> seen(inputs[l].begin() + first, inputs[l].end());
      BlockContext context{.config = config,
                           .rotary = part_of(pass.setting().rotary, first, n),
                           .allowed_BTT = {},
                           .form = Form::kComposed};
      const auto [q, k, v] = query_key_value(layer.block, at::cat(seen, 1), context);
      const auto own = causal_attention(q, k, v, {}, Form::kComposed).narrow(1, n - 1, 1);
      const auto b = z + project(own, layer.block.o);
      context.rotary = part_of(pass.setting().rotary, t, 1);
      const auto query =
          place(norm_project(b, layer.cross_norm, config.norm_eps, layer.cross_q, Form::kComposed)
                    .unflatten(-1, {config.heads, config.head_dim}),
                layer.cross_q_norm, context);
      const auto scores = at::einsum("bthk,bhsk->bhts", {query, pass.memory().k_BHSK}) /
                          std::sqrt(static_cast<double>(config.head_dim));
      const auto shares = at::softmax(scores.narrow(3, 0, t + 1), -1);
      const auto read =
          at::einsum("bhts,bhsk->bthk", {shares, pass.memory().v_BHSK.narrow(2, 0, t + 1)});
      z = feed_forward(layer.block, b + project(read.flatten(2), layer.cross_o), context);
    }
    states.push_back(z);
  }
  return at::cat(states, 1);
}

const std::vector<Overrides> kVariants = {
    {},
    {"model.feedback_interval=4"},
    {"model.feedback_interval=3", "model.window=20"},
    {"model.feedback_interval=16"},
    {"model.feedback_interval=0"},
    {"model.window=1", "model.qk_norm=gain"},
    {"model.decoder_layers=0"},
    {"model.decoder_layers=0", "model.feedback_interval=4"},
    {"model.encoder_layers=0", "model.qk_norm=plain", "model.qk_norm_order=before-rope"},
    {"model.encoder_layers=2", "model.share_blocks=true", "model.feedback_interval=2"},
};

TEST(Rlt, IsWhatItsDefinitionSays) {
  for (const auto& extra : kVariants) {
    SCOPED_TRACE(extra.empty() ? "" : extra[0]);
    const auto model = tiny_rlt(extra);
    EXPECT_LE(distance(states_of(model, tokens()), by_the_definition(model, tokens())), 1e-13);
  }
}

TEST(Rlt, ReadsTheSameAtOnceAndInAnyPieces) {
  for (const auto& extra : kVariants) {
    SCOPED_TRACE(extra.empty() ? "" : extra[0]);
    const auto model = tiny_rlt(extra);
    const auto whole = states_of(model, tokens());
    // Every split in a prompt and a response, the response at once or token by token.
    for (std::int64_t prompt = 0; prompt < 11; ++prompt)
      for (const std::int64_t piece : {std::int64_t{1}, std::int64_t{2}, 11 - prompt}) {
        RltSession session(model);
        std::vector<Tensor> parts;
        if (prompt > 0) parts.push_back(session.extend(tokens().narrow(1, 0, prompt)));
        for (auto t = prompt; t < 11; t += piece)
          parts.push_back(session.extend(tokens().narrow(1, t, std::min(piece, 11 - t))));
        EXPECT_LE(distance(at::cat(parts, 1), whole), 1e-13) << prompt << " then " << piece;
        EXPECT_EQ(session.position(), 11);
      }
  }
}

TEST(Rlt, ReadsTheSameInSinglePrecision) {
  for (const std::int64_t interval : {1, 4, 0}) {
    const auto model = tiny_rlt(
        {fmt::format("model.feedback_interval={}", interval), "model.qk_norm=gain"}, at::kFloat);
    const auto whole = states_of(model, tokens());
    RltSession session(model);
    for (std::int64_t t = 0; t < 11; ++t)
      EXPECT_LE(distance(session.extend(tokens().narrow(1, t, 1)), whole.narrow(1, t, 1)), 1e-5);
  }
}

TEST(Rlt, ChunksOfOneTokenAreFeedbackAtEveryToken) {
  const auto chunked = tiny_rlt({"model.feedback_interval=4"});
  const auto every = tiny_rlt({"model.feedback_interval=1"});
  EXPECT_TRUE(states_of(chunked, tokens(), 1).equal(states_of(every, tokens())));
  EXPECT_GT(distance(states_of(chunked, tokens()), states_of(every, tokens())), 1e-3);
}

TEST(Rlt, EarlierOutputsDoNotSeeLaterTokens) {
  for (const auto& extra : kVariants)
    for (const Form form : {Form::kFused, Form::kComposed}) {
      auto model = tiny_rlt(extra, at::kFloat);
      model.form = form;
      const auto before = states_of(model, tokens());
      auto changed = tokens().clone();
      changed.select(1, 5).fill_(9);
      const auto after = states_of(model, changed);
      EXPECT_TRUE(before.narrow(1, 0, 5).equal(after.narrow(1, 0, 5)));
      EXPECT_FALSE(before.select(1, 5).equal(after.select(1, 5)));
    }
}

TEST(Rlt, RowsOfABatchAreIndependent) {
  for (const auto& extra : kVariants) {
    const auto model = tiny_rlt(extra);
    const auto all = states_of(model, tokens(3));
    for (std::int64_t row = 0; row < 3; ++row)
      EXPECT_LE(distance(states_of(model, tokens(3).narrow(0, row, 1)), all.narrow(0, row, 1)),
                1e-13);
  }
}

TEST(Rlt, FusedEqualsComposed) {
  for (const auto& extra : kVariants) {
    auto model = tiny_rlt(extra, at::kFloat);
    const auto fused = states_of(model, tokens());
    model.form = Form::kComposed;
    EXPECT_LE(distance(fused, states_of(model, tokens())), 3e-6);
  }
}

TEST(Rlt, CountsEqualTheCostModel) {
  for (auto extra : kVariants)
    for (const char* more : {"model.tied_head=true", "model.qk_norm=gain"}) {
      extra.emplace_back(more);
      const auto config = tiny_rlt_config(extra);
      const auto model = make_rlt(config.model);
      std::map<std::string, std::vector<std::int64_t>> built, counted;
      visit_parameters(model,
                       [&](const std::string& name, const Parameter& p) { built[name] = p.shape; });
      for (const auto& tensor : parameter_shapes(config.model, 17))
        counted[tensor.name] = tensor.shape;
      EXPECT_EQ(built, counted);
    }
}

TEST(Rlt, StartsFromWhatItsRolesSay) {
  const auto config = tiny_rlt_config({"model.init=scaled", "model.d_model=192", "model.heads=3",
                                       "model.decoder_layers=3", "model.d_ff=512"});
  const auto model = std::get<Rlt>(initial_model(config.model, 7));
  const auto spread = [](const Parameter& p) { return p.value.std().item<double>(); };
  const double root = 0.5 / std::sqrt(192.0);
  EXPECT_NEAR(spread(model.embed.weight), 0.02, 0.001);
  EXPECT_NEAR(spread(model.merge->state.weight), root, 0.02 * root);
  EXPECT_NEAR(spread(model.merge->gate.weight), root / 2, 0.02 * root);  // in 384, out 192
  EXPECT_NEAR(spread(model.memory->k.weight), root, 0.02 * root);
  EXPECT_NEAR(spread(model.decoder[2].cross.q.weight), root, 0.02 * root);
  EXPECT_NEAR(spread(model.decoder[2].cross.o.weight), root / 4, 0.01 * root);
  EXPECT_NEAR(spread(model.decoder[2].block.attn.o.weight), root / 4, 0.01 * root);
  EXPECT_EQ(model.merge->gate.bias.value.abs().max().item<double>(), 0.0);
  EXPECT_NEAR(spread(model.merge->initial), 0.02, 0.004);
  const auto shut = std::get<Rlt>(initial_model(tiny_rlt_config({"model.merge_bias=-2"}).model, 7));
  EXPECT_TRUE(shut.merge->gate.bias.value.equal(at::full({12}, -2.0)));
}

}  // namespace
}  // namespace rondo
