// What must be equal in a looped model: loops and layers, truncation and a graph cut by hand,
// recomputation, causality; gradients against finite differences; the counts against the cost
// model.
#include "model/looped_lm.h"

#include <gtest/gtest.h>

#include <map>

#include "cost/parameters.h"
#include "tests/model/support.h"

namespace rondo {
namespace {

using namespace testing_models;
using reference::check_gradient;
using reference::distance;

const std::vector<std::string> kInjections = {"none", "scalar", "channel", "residual-channel",
                                              "dense"};

Tensor logits_of(const LoopedLm& model, const LoopedInput& input, std::int64_t loops) {
  const LoopedPass pass(model, input);
  return pass.logits(pass.run({.loops = loops}));
}

TEST(LoopedLm, OneLoopIsThePlainTransformer) {
  const auto looped = tiny_model(
      tiny_config({"model.injection=none", "model.loop_norm=false", "loops.forward=1"}).model);
  // The same four layers as prelude only, and none in the loop.
  auto plain_config = looped.config;
  plain_config.prelude_layers = 4;
  plain_config.core_layers = plain_config.coda_layers = 0;
  auto plain = make_looped_lm(plain_config);
  plain.embed = looped.embed;
  plain.final_norm = looped.final_norm;
  plain.head = looped.head;
  plain.prelude = {looped.prelude[0], looped.core[0], looped.core[1], looped.coda[0]};
  EXPECT_TRUE(logits_of(looped, tiny_input(), 1).equal(logits_of(plain, tiny_input(), 1)));
}

TEST(LoopedLm, LoopsAreAStackOfTiedLayers) {
  const auto looped =
      tiny_model(tiny_config({"model.injection=none", "model.loop_norm=false"}).model);
  auto stack_config = looped.config;
  stack_config.core_layers = 6;
  auto stack = make_looped_lm(stack_config);
  stack.embed = looped.embed;
  stack.final_norm = looped.final_norm;
  stack.head = looped.head;
  stack.prelude = looped.prelude;
  stack.coda = looped.coda;
  stack.core.clear();
  for (int loop = 0; loop < 3; ++loop)
    stack.core.insert(stack.core.end(), looped.core.begin(), looped.core.end());
  EXPECT_TRUE(logits_of(looped, tiny_input(), 3).equal(logits_of(stack, tiny_input(), 1)));
}

TEST(LoopedLm, FullBackPropagationInAllItsSpellings) {
  for (const auto& injection : kInjections) {
    auto model = tiny_model(tiny_config({"model.injection=" + injection}).model);
    const auto wanted =
        gradients_of(model, loss_of(model, tiny_input(), {.loops = 3, .backward = 3}));
    for (const std::int64_t backward : {0, 4, 99})
      for (const auto& [name, gradient] :
           gradients_of(model, loss_of(model, tiny_input(), {.loops = 3, .backward = backward})))
        EXPECT_TRUE(gradient.equal(wanted.at(name))) << injection << " " << name;
  }
}

TEST(LoopedLm, TruncationEqualsAGraphCutByHand) {
  for (const auto& injection : kInjections) {
    SCOPED_TRACE(injection);
    auto model = tiny_model(tiny_config({"model.injection=" + injection}).model);
    const auto got = gradients_of(model, loss_of(model, tiny_input(), {.loops = 5, .backward = 2}));

    // By hand: a pass of its own gives the state after three loops; a second pass starts from it.
    Tensor cut;
    {
      const LoopedPass prefix(model, tiny_input());
      cut = prefix.run({.loops = 3}).detach();
    }
    const LoopedPass pass(model, tiny_input());
    const auto state = pass.run_from({cut, 3, {}}, {.loops = 2});
    const auto loss = cross_entropy(pass.logits(state).flatten(0, 1),
                                    tiny_input().tokens_BT.flatten().roll(-1, 0))
                          .mean();
    for (const auto& [name, gradient] : gradients_of(model, loss))
      EXPECT_LE(distance(got.at(name), gradient), 1e-13) << name;
  }
}

TEST(LoopedLm, TruncationLeavesTheForwardPassAlone) {
  const auto model = tiny_model(tiny_config().model);
  const LoopedPass pass(model, tiny_input());
  EXPECT_TRUE(pass.run({.loops = 5, .backward = 1}).equal(pass.run({.loops = 5})));
}

TEST(LoopedLm, PreludeLearnsThroughTheInjectionOfTheLastLoops) {
  auto model = tiny_model(tiny_config().model);
  const auto found = gradients_of(model, loss_of(model, tiny_input(), {.loops = 5, .backward = 1}));
  EXPECT_GT(found.at("prelude.0.attn.q.weight").abs().max().item<double>(), 0.0);
  auto blind = tiny_model(tiny_config({"model.injection=none"}).model);
  const auto none = gradients_of(blind, loss_of(blind, tiny_input(), {.loops = 5, .backward = 1}));
  EXPECT_EQ(none.at("prelude.0.attn.q.weight").abs().max().item<double>(), 0.0);
}

TEST(LoopedLm, RecomputationChangesNoGradient) {
  for (const std::string injection : {"none", "channel", "dense"}) {
    auto model = tiny_model(tiny_config({"model.injection=" + injection}).model);
    const auto wanted =
        gradients_of(model, loss_of(model, tiny_input(), {.loops = 4, .backward = 3}));
    const auto again = gradients_of(
        model, loss_of(model, tiny_input(), {.loops = 4, .backward = 3, .recompute = true}));
    for (const auto& [name, gradient] : again)
      EXPECT_LE(distance(gradient, wanted.at(name)), 1e-14) << injection << " " << name;
  }
}

TEST(LoopedLm, GradientsAgreeWithFiniteDifferences) {
  for (const std::string injection : {"scalar", "residual-channel", "dense"}) {
    SCOPED_TRACE(injection);
    auto model = tiny_model(tiny_config({"model.injection=" + injection, "model.qk_norm=gain",
                                         "model.logit_softcap=4", "model.logit_scale=2"})
                                .model);
    const auto loss = [&] { return loss_of(model, tiny_input(), {.loops = 3}); };
    visit_parameters(model, [&](const std::string& name, Parameter& parameter) {
      SCOPED_TRACE(name);
      check_gradient(loss, parameter.value, 1e-6, 3);
    });
  }
}

TEST(LoopedLm, FusedEqualsComposed) {
  auto model = tiny_model(tiny_config({"model.qk_norm=gain"}).model, at::kFloat);
  const auto fused = logits_of(model, tiny_input(), 3);
  model.form = Form::kComposed;
  EXPECT_LE(distance(fused, logits_of(model, tiny_input(), 3)), 2e-6);
}

TEST(LoopedLm, EarlierOutputsDoNotSeeLaterTokens) {
  for (const Form form : {Form::kFused, Form::kComposed}) {
    auto model = tiny_model(tiny_config().model, at::kFloat);
    model.form = form;
    auto input = tiny_input();
    const auto before = logits_of(model, input, 4);
    input.tokens_BT = input.tokens_BT.clone();
    input.tokens_BT.select(1, 4).fill_(9);
    const auto after = logits_of(model, input, 4);
    EXPECT_TRUE(before.narrow(1, 0, 4).equal(after.narrow(1, 0, 4)));
    EXPECT_FALSE(before.narrow(1, 4, 3).equal(after.narrow(1, 4, 3)));
  }
}

TEST(LoopedLm, RowsOfABatchAreIndependent) {
  const auto model = tiny_model(tiny_config().model);
  auto input = tiny_input(3);
  const auto all = logits_of(model, input, 3);
  for (std::int64_t row = 0; row < 3; ++row) {
    auto one = input;
    one.tokens_BT = input.tokens_BT.narrow(0, row, 1);
    EXPECT_LE(distance(logits_of(model, one, 3), all.narrow(0, row, 1)), 1e-13);
  }
}

TEST(LoopedLm, DocumentsAreSeparateSequencesUnderTheMask) {
  auto config = tiny_config({"model.prelude_layers=2"}).model;
  const auto model = tiny_model(config);
  auto input = tiny_input(1, 8);
  input.documents_BT = at::tensor({0, 0, 0, 1, 1, 1, 1, 1}, at::kLong).unsqueeze(0);
  const auto masked = logits_of(model, input, 2);
  // RoPE sees distances only, so a document reads the same wherever it stands.
  LoopedInput second{
      .tokens_BT = input.tokens_BT.narrow(1, 3, 5), .documents_BT = {}, .sample_keys = {}};
  EXPECT_LE(distance(logits_of(model, second, 2), masked.narrow(1, 3, 5)), 1e-12);
}

TEST(LoopedLm, RandomStatesDependOnSeedAndSampleOnly) {
  const auto model =
      tiny_model(tiny_config({"model.state_init=normal", "model.state_std=0.5"}).model, at::kFloat);
  auto input = tiny_input(2);
  input.state_seed = 5;
  input.sample_keys = {40, 41};
  const auto both = LoopedPass(model, input).initial_state();
  EXPECT_NEAR(both.std().item<double>(), 0.5, 0.08);
  auto second = tiny_input(1, 4);
  second.state_seed = 5;
  second.sample_keys = {41};
  EXPECT_TRUE(LoopedPass(model, second).initial_state()[0].equal(both[1].narrow(0, 0, 4)));
  second.state_seed = 6;
  EXPECT_FALSE(LoopedPass(model, second).initial_state()[0].equal(both[1].narrow(0, 0, 4)));
}

TEST(LoopedLm, ObserverSeesEveryStateOnce) {
  const auto model = tiny_model(tiny_config().model);
  const LoopedPass pass(model, tiny_input());
  std::vector<std::int64_t> loops;
  Tensor last;
  const auto end =
      pass.run({.loops = 4, .backward = 2}, [&](std::int64_t loop, const Tensor& state) {
        loops.push_back(loop);
        last = state;
      });
  EXPECT_EQ(loops, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(last.equal(end));
}

TEST(LoopedLm, StaysFiniteOverSixtyFourLoopsWithLoopNorm) {
  const auto model = tiny_model(tiny_config().model, at::kFloat);
  const LoopedPass pass(model, tiny_input());
  EXPECT_TRUE(pass.run({.loops = 64, .backward = 8}).isfinite().all().item<bool>());
}

TEST(LoopedLm, CountsEqualTheCostModel) {
  for (const auto& extra :
       std::vector<Overrides>{{},
                              {"model.tied_head=true"},
                              {"model.qk_norm=gain"},
                              {"model.injection=channel"},
                              {"model.injection=scalar", "model.loop_norm=false"},
                              {"model.prelude_layers=0"},
                              {"model.core_layers=0", "model.coda_layers=3"}}) {
    const auto config = tiny_config(extra);
    auto model = make_looped_lm(config.model);
    std::map<std::string, std::vector<std::int64_t>> built, counted;
    visit_parameters(model,
                     [&](const std::string& name, const Parameter& p) { built[name] = p.shape; });
    for (const auto& tensor : parameter_shapes(config.model, 17))
      counted[tensor.name] = tensor.shape;
    EXPECT_EQ(built, counted);
  }
}

}  // namespace
}  // namespace rondo
