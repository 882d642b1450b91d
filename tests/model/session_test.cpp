// Reading with a looped model in pieces against whole passes, and what a session keeps.
#include "model/session.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/model/support.h"

namespace rondo {
namespace {

using namespace testing_models;
using reference::distance;

constexpr std::int64_t kLength = 11;

/// Every form of injection, history, timestep, attention and first state.
const std::vector<Overrides> kSessionForms = {
    {},
    {"model.injection=none"},
    {"model.injection=scalar"},
    {"model.injection=channel", "model.loop_norm=false"},
    {"model.injection=residual-channel"},
    {"model.history=scalar", "model.history_window=1"},
    {"model.history=channel", "model.history_window=3"},
    {"model.history=dense", "model.history_window=2"},
    {"model.timestep=loop-gate"},
    {"model.timestep=branch-gate"},
    {"model.timestep=adaln", "model.history=channel", "model.history_window=2"},
    {"model.timestep=adaln", "model.timestep_grid=prefix", "loops.forward=6"},
    {"model.kv_heads=3", "model.qk_norm=gain"},
    {"model.heads=4", "model.kv_heads=2", "model.qk_norm=plain"},
    {"model.heads=4", "model.kv_heads=2", "model.qk_norm=gain", "model.qk_norm_order=before-rope"},
    {"model.state_init=zero"},
    {"model.state_init=normal"},
    {"model.prelude_layers=0", "model.coda_layers=0"},
    {"model.prelude_layers=2", "model.core_layers=1", "model.coda_layers=3"},
    {"model.core_layers=0"},
    {"model.tied_head=true", "model.logit_scale=2.0", "model.logit_softcap=3.0"},
};

std::string words(const Overrides& set) {
  std::string all;
  for (const auto& each : set) all += each + " ";
  return all;
}

Tensor all_logits(const LoopedLm& model, const Tensor& tokens_BT, std::int64_t loops) {
  const NoGrad guard;
  const LoopedPass pass(model, {.tokens_BT = tokens_BT, .documents_BT = {}, .sample_keys = {}});
  return pass.logits(pass.run({.loops = loops}));
}

/// Logits of pieces of these sizes, again and again until all is read.
Tensor logits_in_pieces(const LoopedLm& model, const Tensor& tokens_BT, std::int64_t loops,
                        const std::vector<std::int64_t>& sizes) {
  LoopedSession session(model, loops);
  std::vector<Tensor> parts;
  const auto length = tokens_BT.size(1);
  for (std::size_t i = 0; session.position() < length; ++i) {
    const auto count = std::min(sizes[i % sizes.size()], length - session.position());
    parts.push_back(session.logits(session.extend(tokens_BT.narrow(1, session.position(), count))));
  }
  return at::cat(parts, 1);
}

void expect_equal_pieces(const Overrides& form, at::ScalarType type, double tolerance) {
  const auto model = tiny_model(tiny_config(form).model, type);
  const auto tokens_BT = tiny_input(2, kLength).tokens_BT;
  for (const std::int64_t loops : {1, 2, 5}) {
    const auto whole = all_logits(model, tokens_BT, loops);
    for (const auto& sizes :
         std::vector<std::vector<std::int64_t>>{{kLength}, {1}, {4, 1, 3}, {1, 6}})
      EXPECT_LE(distance(logits_in_pieces(model, tokens_BT, loops, sizes), whole), tolerance)
          << words(form) << loops << " loops, pieces from " << sizes[0];
  }
}

TEST(Session, PiecesGiveTheLogitsOfTheWholePass) {
  for (const auto& form : kSessionForms) expect_equal_pieces(form, at::kDouble, 1e-12);
}

TEST(Session, PiecesGiveTheLogitsOfTheWholePassInSinglePrecision) {
  for (const auto& form : kSessionForms) expect_equal_pieces(form, at::kFloat, 1e-5);
}

TEST(Session, ComposedOperationsDoTheSame) {
  for (const auto& form : kSessionForms) {
    auto model = tiny_model(tiny_config(form).model);
    model.form = Form::kComposed;
    const auto tokens_BT = tiny_input(2, kLength).tokens_BT;
    EXPECT_LE(
        distance(logits_in_pieces(model, tokens_BT, 3, {2, 1}), all_logits(model, tokens_BT, 3)),
        1e-12)
        << words(form);
  }
}

TEST(Session, LoopsMakeADifference) {
  const auto model = tiny_model(tiny_config().model);
  const auto tokens_BT = tiny_input(1, kLength).tokens_BT;
  EXPECT_GT(distance(logits_in_pieces(model, tokens_BT, 1, {1}), all_logits(model, tokens_BT, 2)),
            1e-3);
}

TEST(Session, RoomGrowsWithTheText) {
  // Beyond the first room and the first rotary table.
  const auto model = tiny_model(tiny_config().model);
  const auto tokens_BT = tiny_input(1, 150).tokens_BT;
  EXPECT_LE(distance(logits_in_pieces(model, tokens_BT, 2, {1}), all_logits(model, tokens_BT, 2)),
            1e-12);
}

TEST(Session, RandomFirstStatesComeFromTheirStreams) {
  const auto model = tiny_model(tiny_config({"model.state_init=normal"}).model);
  const auto tokens_BT = tiny_input(1, 5).tokens_BT;
  const auto read = [&](std::uint64_t key) {
    LoopedSession session(model, 2, {.tokens_BT = {}, .documents_BT = {}, .sample_keys = {key}});
    return session.extend(tokens_BT);
  };
  EXPECT_TRUE(read(7).equal(read(7)));
  EXPECT_FALSE(read(7).equal(read(8)));
}

TEST(Session, EitherKindOfModel) {
  const NoGrad guard;
  const auto tokens_BT = tiny_input(1, kLength).tokens_BT;
  for (const bool rlt : {false, true}) {
    const Model model = rlt ? Model(tiny_rlt({"model.feedback_interval=4"}))
                            : Model(tiny_model(tiny_config().model));
    const std::int64_t loops = rlt ? 1 : 3;
    const ModelPass pass(model, {.tokens_BT = tokens_BT, .documents_BT = {}, .sample_keys = {}});
    const auto whole = pass.logits(pass.run({.loops = loops}));
    ModelSession session(model, loops);
    for (std::int64_t t = 0; t < kLength; ++t)
      EXPECT_LE(distance(session.logits(session.extend(tokens_BT.narrow(1, t, 1))),
                         whole.narrow(1, t, 1)),
                1e-12);
  }
}

TEST(Session, RefusesLoopsThatTheModelHasNot) {
  const auto prefix =
      tiny_model(tiny_config({"model.timestep=loop-gate", "model.timestep_grid=prefix"}).model);
  EXPECT_NO_THROW(LoopedSession(prefix, 3));
  EXPECT_THROW(LoopedSession(prefix, 4), Error);
  const Model rlt = tiny_rlt();
  EXPECT_THROW(ModelSession(rlt, 2), Error);
}

}  // namespace
}  // namespace rondo
