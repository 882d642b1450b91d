// History and timestep: starts that change nothing, what a loop sees by hand, truncation against a
// graph cut by hand, recomputation, finite differences, depths beyond training.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>

#include "base/error.h"
#include "cost/parameters.h"
#include "tests/model/support.h"

namespace rondo {
namespace {

using namespace testing_models;
using reference::check_gradient;
using reference::distance;

const std::vector<Overrides> kForms = {
    {"model.history=scalar", "model.history_window=2"},
    {"model.history=channel", "model.history_window=1"},
    {"model.history=channel", "model.history_window=3"},
    {"model.history=dense", "model.history_window=2"},
    {"model.timestep=loop-gate"},
    {"model.timestep=branch-gate"},
    {"model.timestep=adaln"},
    {"model.history=channel", "model.history_window=2", "model.timestep=adaln"},
    {"model.history=dense", "model.history_window=2", "model.timestep=loop-gate",
     "model.injection=residual-channel"},
    {"model.history=scalar", "model.history_window=4", "model.timestep=branch-gate",
     "model.timestep_grid=prefix", "loops.forward=6"},
};

std::string name_of(const Overrides& extra) {
  std::string name;
  for (const auto& each : extra) name += each + " ";
  return name;
}

ModelConfig config_with(Overrides extra) { return tiny_config(extra).model; }

/// Gives `to` the weights of `from` where both have them.
void copy_weights(LoopedLm& to, LoopedLm& from) {
  std::map<std::string, Tensor> values;
  visit_parameters(from, [&](const std::string& name, Parameter& p) { values[name] = p.value; });
  visit_parameters(to, [&](const std::string& name, Parameter& p) {
    if (const auto found = values.find(name); found != values.end()) p.value = found->second;
  });
}

std::vector<Tensor> states_of(const LoopedLm& model, std::int64_t loops) {
  std::vector<Tensor> states;
  const LoopedPass pass(model, tiny_input());
  pass.run({.loops = loops}, [&](std::int64_t, const Tensor& s) { states.push_back(s); });
  return states;
}

TEST(Conditioning, StartsAsTheUnconditionedModelBitForBit) {
  for (const bool norm : {true, false}) {
    for (const Form form : {Form::kFused, Form::kComposed}) {
      const Overrides shape = {"model.injection=none",
                               norm ? "model.loop_norm=true" : "model.loop_norm=false"};
      auto base = initial_looped_lm(config_with(shape), 5);
      base.form = form;
      const auto expected = at::stack(states_of(base, 5));
      for (auto extra : kForms) {
        extra.insert(extra.begin(), shape.begin(), shape.end());
        auto model = initial_looped_lm(config_with(extra), 5);
        model.form = form;
        EXPECT_TRUE(at::stack(states_of(model, 5)).equal(expected)) << name_of(extra);
      }
    }
  }
}

TEST(Conditioning, GradientsOfTheOtherWeightsStartAsThoseOfTheUnconditionedModel) {
  auto base = tiny_model(config_with({}));
  const auto expected = gradients_of(base, loss_of(base, tiny_input(), {.loops = 5}));
  for (const auto& extra :
       std::vector<Overrides>{{"model.history=channel", "model.history_window=2"},
                              {"model.timestep=branch-gate"},
                              {"model.timestep=adaln"},
                              {"model.timestep=loop-gate"}}) {
    auto model = initial_looped_lm(config_with(extra), 5);
    visit_parameters(model, [](const std::string&, Parameter& p) {
      p.value = p.value.detach().to(at::kDouble).requires_grad_(true);
    });
    copy_weights(model, base);
    const auto found = gradients_of(model, loss_of(model, tiny_input(), {.loops = 5}));
    for (const auto& [name, gradient] : expected)
      EXPECT_LE(distance(found.at(name), gradient), 1e-13) << name_of(extra) << name;
  }
}

/// One loop on its own: what the model makes of `z`, without injection, history and norm.
Tensor core_of(const LoopedLm& model, const Tensor& z) {
  auto alone = model;
  alone.inject = {};
  alone.history = {};
  alone.loop_norm.reset();
  const LoopedPass pass(alone, tiny_input());
  return pass.run_from({z, 0, {}}, {.loops = 1});
}

TEST(Conditioning, HistorySeesDifferencesToEarlierStatesWithoutTheFirst) {
  // h_{l+1} = F(h_l + Σ_j b_j ⊙ (h_{l−j} − h_l)), loop by loop from the states that were seen.
  const auto config = config_with({"model.injection=none", "model.loop_norm=false",
                                   "model.history=channel", "model.history_window=2"});
  const auto model = tiny_model(config);
  const auto h = states_of(model, 5);
  for (std::size_t l = 0; l < 5; ++l) {
    auto z = h[l];
    for (std::size_t j = 1; j <= 2 && j < l; ++j)
      z = z + model.history.lags[j - 1].value * (h[l - j] - h[l]);
    EXPECT_LE(distance(core_of(model, z), h[l + 1]), 1e-13) << l;
  }
}

TEST(Conditioning, LagsBeyondTheLoopsChangeNothingAndGetNoGradient) {
  auto narrow = tiny_model(
      config_with({"model.history=channel", "model.history_window=2", "loops.forward=4"}));
  auto wide = tiny_model(
      config_with({"model.history=channel", "model.history_window=9", "loops.forward=4"}));
  copy_weights(wide, narrow);
  EXPECT_TRUE(states_of(wide, 4).back().equal(states_of(narrow, 4).back()));
  EXPECT_FALSE(states_of(wide, 5).back().equal(states_of(narrow, 5).back()));
  const auto found = gradients_of(wide, loss_of(wide, tiny_input(), {.loops = 4}));
  for (int lag = 1; lag <= 9; ++lag) {
    const auto most = found.at("history." + std::to_string(lag)).abs().max().item<double>();
    EXPECT_EQ(most > 0, lag <= 2) << lag;
  }
}

TEST(Conditioning, TimeFeatures) {
  const auto psi = time_features(3, 4);
  const double t = 0.75, dt = 0.25, pi = std::numbers::pi;
  const std::array<double, 8> wanted = {
      t, dt, 0.5625, 0.0625, 0.1875, std::sin(pi * t), std::cos(pi * t) - 1, std::sin(2 * pi * t)};
  for (std::size_t i = 0; i < 8; ++i) EXPECT_DOUBLE_EQ(psi[i], wanted[i]) << i;
}

TEST(Conditioning, LoopGateMixesStateAndCore) {
  const auto config =
      config_with({"model.injection=none", "model.loop_norm=false", "model.timestep=loop-gate"});
  const auto model = tiny_model(config);
  auto plain = model;
  plain.config.timestep = TimestepForm::kNone;
  plain.timestep = {};
  const auto h = states_of(model, 4);
  for (std::int64_t l = 0; l < 4; ++l) {
    const auto psi = time_features(l, 4);
    double gate = 1;
    for (std::int64_t i = 0; i < 8; ++i)
      gate += model.timestep.loop_gate->value[i].item<double>() * psi[static_cast<std::size_t>(i)];
    const auto at = static_cast<std::size_t>(l);
    const auto y = core_of(plain, h[at]);
    EXPECT_LE(distance(h[at] + gate * (y - h[at]), h[at + 1]), 1e-13) << l;
  }
}

TEST(Conditioning, GatesOfZeroTakeTheCoreAway) {
  // With 1 + q · psi = 0 at t = 0 both branches are gone and a loop passes its state on.
  const auto config =
      config_with({"model.injection=none", "model.loop_norm=false", "model.timestep=branch-gate"});
  auto model = tiny_model(config);
  const NoGrad guard;
  model.timestep.branch_gate->value.zero_();
  model.timestep.branch_gate->value.select(2, 1).fill_(-1.0);  // dt is 1 in a pass of one loop
  const auto h = states_of(model, 1);
  EXPECT_TRUE(h[1].equal(h[0]));
}

TEST(Conditioning, TruncationEqualsAGraphCutByHand) {
  for (const auto& extra : kForms) {
    SCOPED_TRACE(name_of(extra));
    auto model = tiny_model(config_with(extra));
    const auto got = gradients_of(model, loss_of(model, tiny_input(), {.loops = 6, .backward = 2}));

    // By hand: a pass of its own gives the states of the first loops; they go on as constants.
    LoopPoint cut;
    {
      const auto states = states_of(model, 6);
      cut = {states[4].detach(), 4, {states[3].detach(), states[2].detach(), states[1].detach()}};
    }
    const LoopedPass pass(model, tiny_input());
    const auto state = pass.run_from(cut, {.loops = 2});
    const auto loss = cross_entropy(pass.logits(state).flatten(0, 1),
                                    tiny_input().tokens_BT.flatten().roll(-1, 0))
                          .mean();
    for (const auto& [name, gradient] : gradients_of(model, loss))
      EXPECT_LE(distance(got.at(name), gradient), 1e-12) << name;
  }
}

TEST(Conditioning, TheHistoryIsNotDetached) {
  // With h_1 as a constant the gradient of h_3 through the history is lost.
  auto model = tiny_model(config_with({"model.history=channel", "model.history_window=1"}));
  const auto whole = gradients_of(model, loss_of(model, tiny_input(), {.loops = 3}));
  const LoopedPass pass(model, tiny_input());
  std::vector<Tensor> states;
  pass.run({.loops = 2}, [&](std::int64_t, const Tensor& s) { states.push_back(s); });
  const auto state = pass.run_from({states[2], 2, {states[1].detach()}}, {.loops = 1});
  const auto loss =
      cross_entropy(pass.logits(state).flatten(0, 1), tiny_input().tokens_BT.flatten().roll(-1, 0))
          .mean();
  const auto cut = gradients_of(model, loss);
  EXPECT_GT(distance(cut.at("core.0.attn.q.weight"), whole.at("core.0.attn.q.weight")), 1e-4);
}

TEST(Conditioning, RecomputationChangesNoGradient) {
  for (const auto& extra : kForms) {
    for (const auto type : {at::kDouble, at::kFloat}) {
      auto model = tiny_model(config_with(extra), type);
      for (const std::int64_t backward : {0, 3}) {
        const LoopPlan plan{.loops = 6, .backward = backward};
        auto again_plan = plan;
        again_plan.recompute = true;
        const auto wanted = gradients_of(model, loss_of(model, tiny_input(), plan));
        const auto again = gradients_of(model, loss_of(model, tiny_input(), again_plan));
        for (const auto& [name, gradient] : again)
          EXPECT_LE(distance(gradient, wanted.at(name)), type == at::kDouble ? 1e-13 : 2e-5)
              << name_of(extra) << name;
      }
    }
  }
}

TEST(Conditioning, GradientsAgreeWithFiniteDifferences) {
  for (const auto& extra : kForms) {
    SCOPED_TRACE(name_of(extra));
    auto model = tiny_model(config_with(extra));
    const auto loss = [&] { return loss_of(model, tiny_input(), {.loops = 5}); };
    visit_parameters(model, [&](const std::string& name, Parameter& parameter) {
      SCOPED_TRACE(name);
      check_gradient(loss, parameter.value, 1e-6, 3);
    });
  }
}

TEST(Conditioning, FusedEqualsComposed) {
  for (const auto& extra : kForms) {
    auto model = tiny_model(config_with(extra), at::kFloat);
    const auto fused = states_of(model, 5).back();
    model.form = Form::kComposed;
    EXPECT_LE(distance(fused, states_of(model, 5).back()), 5e-6) << name_of(extra);
  }
}

TEST(Conditioning, EveryDepthIsThatOfAPassOfItsOwn) {
  for (const std::string grid : {"rescaled", "prefix"}) {
    const auto model = tiny_model(config_with(
        {"model.timestep=branch-gate", "model.timestep_grid=" + grid, "loops.forward=6"}));
    const LoopedPass pass(model, tiny_input());
    const std::vector<std::int64_t> depths = {1, 2, 6};
    std::vector<std::int64_t> shown;
    pass.run_each(depths, [&](std::int64_t loop, const Tensor& state) {
      shown.push_back(loop);
      EXPECT_TRUE(state.equal(states_of(model, loop).back())) << grid << " " << loop;
    });
    EXPECT_EQ(shown, depths);
    // On the grid of training a short pass is the beginning of a long one; rescaled it is not.
    EXPECT_EQ(states_of(model, 6)[2].equal(states_of(model, 2).back()), grid == "prefix");
  }
}

TEST(Conditioning, TimeOfTrainingEndsWithItsLoops) {
  Model model = tiny_model(config_with({"model.timestep=adaln", "loops.forward=4"}));
  const auto run = [&](std::int64_t loops) {
    return ModelPass(model, tiny_input()).run({.loops = loops});
  };
  const auto rescaled = run(4);
  EXPECT_NO_THROW(run(5));
  set_timestep_grid(model, TimestepGrid::kPrefix, "--timestep-grid");
  EXPECT_TRUE(run(4).equal(rescaled));
  try {
    run(5);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "5 loops on the timestep grid \"prefix\", which ends with the 4 of training "
                 "(loops.forward); run at most as many, or use the grid \"rescaled\"");
  }
}

TEST(Conditioning, StaysFiniteFarBeyondTraining) {
  for (const auto& extra : kForms) {
    if (extra.back() == "loops.forward=6") continue;  // on the grid of training
    const auto model = initial_looped_lm(config_with(extra), 3);
    EXPECT_TRUE(states_of(model, 48).back().isfinite().all().item<bool>()) << name_of(extra);
  }
}

TEST(Conditioning, CountsEqualTheCostModel) {
  for (const auto& extra : kForms) {
    const auto config = tiny_config(extra);
    auto model = make_looped_lm(config.model);
    std::map<std::string, std::vector<std::int64_t>> built, counted;
    visit_parameters(model,
                     [&](const std::string& name, const Parameter& p) { built[name] = p.shape; });
    for (const auto& tensor : parameter_shapes(config.model, 17))
      counted[tensor.name] = tensor.shape;
    EXPECT_EQ(built, counted) << name_of(extra);
  }
}

}  // namespace
}  // namespace rondo
