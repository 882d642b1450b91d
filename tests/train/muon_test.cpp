// Muon against the double-precision reference of tests/golden, its state, and who follows it.
#include "train/muon.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "cost/groups.h"
#include "tests/model/support.h"
#include "train/optimizer.h"

namespace rondo {
namespace {

using namespace testing_models;
using reference::distance;

struct MuonReference {
  TensorFile file = read_safetensors("tests/golden/muon.safetensors");
  TrainConfig train = parse_recipe(file.metadata.at("rondo.config"), "muon").train;
  std::vector<std::string> names = {"wide", "tall", "square", "near", "row", "twin_a", "twin_b"};
  std::vector<Parameter> parameters;

  explicit MuonReference(MuonScale scale) {
    train.muon_scale = scale;
    for (const auto& name : names) {
      const auto value = file.tensors.at("initial." + name).clone();
      parameters.push_back({.role = Role::kMatrix,
                            .shape = value.sizes().vec(),
                            .value = value.requires_grad_(true)});
    }
  }
  std::vector<std::pair<std::string, Parameter*>> list() {
    std::vector<std::pair<std::string, Parameter*>> out;
    for (std::size_t i = 0; i < names.size(); ++i) out.emplace_back(names[i], &parameters[i]);
    return out;
  }
  void run(Optimizer& optimizer, std::int64_t step) {
    for (std::size_t i = 0; i < names.size(); ++i)
      parameters[i].value.mutable_grad() =
          file.tensors.at("gradient." + names[i])[step - 1].clone();
    optimizer.clip_gradients();
    optimizer.step(file.tensors.at("learning_rate")[step - 1].item<double>(), step);
  }
};

TEST(Muon, FollowsTheReferenceInBothScales) {
  for (const auto scale : {MuonScale::kRms, MuonScale::kSpectral})
    for (const auto form : {Form::kFused, Form::kComposed}) {
      MuonReference reference(scale);
      Optimizer optimizer(reference.list(), reference.train, form);
      for (std::int64_t step = 1; step <= 20; ++step) {
        reference.run(optimizer, step);
        if (step != 1 && step != 5 && step != 20) continue;
        const auto state = optimizer.state();
        for (std::size_t i = 0; i < reference.names.size(); ++i) {
          const auto& name = reference.names[i];
          const auto prefix = fmt::format("{}.step_{}.", word(scale), step);
          SCOPED_TRACE(prefix + name);
          const auto& expected = reference.file.tensors;
          EXPECT_LE(
              distance(reference.parameters[i].value, expected.at(prefix + "parameter." + name)),
              2e-5);
          EXPECT_LE(distance(state.tensors.at("m." + name), expected.at(prefix + "m." + name)),
                    1e-6);
        }
      }
    }
}

TEST(Muon, KeepsOneMomentAndGoesOnBitForBit) {
  MuonReference whole(MuonScale::kRms), part(MuonScale::kRms);
  Optimizer first(whole.list(), whole.train), before(part.list(), part.train);
  for (std::int64_t step = 1; step <= 20; ++step) whole.run(first, step);
  for (std::int64_t step = 1; step <= 11; ++step) part.run(before, step);
  const auto state = before.state();
  EXPECT_EQ(state.tensors.size(), 7U);
  Optimizer after(part.list(), part.train);
  after.load_state(state, "state");
  for (std::int64_t step = 12; step <= 20; ++step) part.run(after, step);
  for (std::size_t i = 0; i < whole.names.size(); ++i)
    EXPECT_TRUE(whole.parameters[i].value.equal(part.parameters[i].value));
  // A state of AdamW has more, and is refused.
  auto foreign = state;
  foreign.tensors["v.wide"] = at::zeros({6, 20});
  EXPECT_THROW(after.load_state(foreign, "state"), Error);
}

TEST(Muon, ScalesAreThoseOfTheirNames) {
  EXPECT_DOUBLE_EQ(muon_factor(MuonScale::kSpectral, 64, 16), 2.0);
  EXPECT_DOUBLE_EQ(muon_factor(MuonScale::kSpectral, 16, 64), 1.0);
  EXPECT_DOUBLE_EQ(muon_factor(MuonScale::kRms, 64, 16), 0.2 * 8);
  EXPECT_DOUBLE_EQ(muon_factor(MuonScale::kRms, 16, 64), 0.2 * 8);
}

TEST(Muon, RmsScaleMovesAsFarAsAdamw) {
  // The root mean square of an update of a full matrix, whatever its shape, is about 0.2 lr.
  for (const auto& [rows, columns] : {std::pair{128, 128}, {64, 256}, {300, 96}}) {
    auto generator = at::detail::createCPUGenerator(5);
    Parameter parameter{.role = Role::kMatrix, .shape = {rows, columns}, .value = {}};
    parameter.value = at::zeros(parameter.shape).requires_grad_(true);
    auto train = MuonReference(MuonScale::kRms).train;
    train.matrix_lr_scale = 1;
    Optimizer optimizer({{"w", &parameter}}, train);
    parameter.value.mutable_grad() = at::randn(parameter.shape, generator);
    optimizer.step(1.0, 1);
    const double rms = parameter.value.detach().square().mean().sqrt().item<double>();
    EXPECT_NEAR(rms, 0.2, 0.04) << rows << " x " << columns;
  }
}

TEST(Muon, GroupsAreThoseThatInfoPrints) {
  for (const Overrides& keys : std::vector<Overrides>{
           {"model.history=dense", "model.history_window=2", "model.timestep=adaln"},
           {"model.injection=channel", "model.qk_norm=gain", "model.tied_head=true"},
           {"model.kind=rlt"},
           {"model.kind=rlt", "model.share_blocks=true"}}) {
    auto set = keys;
    set.insert(set.end(), {"train.optimizer=muon", "size=xs", "model.vocab=256"});
    const auto config = parse_recipe("", "recipe", set);
    auto model = make_model(config.model);
    std::map<std::string, bool> by_role, by_name;
    visit_parameters(model, [&](const std::string& name, Parameter& parameter) {
      by_role[name] = suits_muon(parameter.role);
    });
    for (const auto& tensor : parameter_shapes(config.model, 256))
      by_name[tensor.name] = optimizer_group_of(tensor, OptimizerKind::kMuon) == 0;
    EXPECT_EQ(by_role, by_name);
  }
}

TEST(Muon, TakesLessMemoryThanAdamw) {
  const auto values = [](const char* optimizer) {
    const auto config = parse_recipe(
        "", "recipe", {fmt::format("train.optimizer={}", optimizer), "size=xs", "model.vocab=256"});
    auto model = initial_model(config.model, 1);
    double kept = 0;
    for (const auto& [name, tensor] :
         Optimizer(named_parameters(model), config.train).state().tensors)
      kept += static_cast<double>(tensor.numel());
    EXPECT_EQ(kept, optimizer_values(config, 256));
    return kept;
  };
  EXPECT_LT(values("muon"), 0.7 * values("adamw"));
}

}  // namespace
}  // namespace rondo
