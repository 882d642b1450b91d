// AdamW against the double-precision reference of tests/golden, over a hundred steps.
#include "train/optimizer.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "config/recipe.h"
#include "tests/reference/compare.h"

namespace rondo {
namespace {

using reference::distance;

struct Reference {
  TensorFile file = read_safetensors("tests/golden/optimizer.safetensors");
  TrainConfig train = parse_recipe(file.metadata.at("rondo.config"), "optimizer").train;
  Parameter matrix = start("matrix", Role::kMatrix), vector = start("vector", Role::kGain),
            small = start("small", Role::kEmbedding);
  std::vector<std::pair<std::string, Parameter*>> list = {
      {"matrix", &matrix}, {"vector", &vector}, {"small", &small}};

  Parameter start(const std::string& name, Role role) {
    const auto value = file.tensors.at("initial." + name).to(at::kFloat).clone();
    return {.role = role, .shape = value.sizes().vec(), .value = value.requires_grad_(true)};
  }
  void set_gradients(std::int64_t step) {
    for (auto& [name, parameter] : list)
      parameter->value.mutable_grad() =
          file.tensors.at("gradient." + name)[step - 1].to(at::kFloat).clone();
  }
  double at_step(const char* name, std::int64_t step) {
    return file.tensors.at(name)[step - 1].item<double>();
  }
};

TEST(AdamW, FollowsTheReferenceForAHundredSteps) {
  Reference reference;
  Optimizer optimizer(reference.list, reference.train);
  for (std::int64_t step = 1; step <= 100; ++step) {
    reference.set_gradients(step);
    EXPECT_NEAR(optimizer.clip_gradients() / reference.at_step("gradient_norm", step), 1.0, 1e-6);
    optimizer.step(reference.at_step("learning_rate", step), step);
    if (step != 1 && step != 10 && step != 100) continue;
    const auto state = optimizer.state();
    const auto prefix = "step_" + std::to_string(step) + ".";
    for (const auto& [name, parameter] : reference.list) {
      SCOPED_TRACE(prefix + name);
      const auto& expected = reference.file.tensors;
      EXPECT_LE(distance(parameter->value, expected.at(prefix + "parameter." + name)), 2e-6);
      EXPECT_LE(distance(state.tensors.at("m." + name), expected.at(prefix + "m." + name)), 1e-5);
      EXPECT_LE(distance(state.tensors.at("v." + name), expected.at(prefix + "v." + name)), 1e-5);
    }
  }
}

TEST(AdamW, RestoredStateGoesOnBitForBit) {
  Reference whole, part;
  Optimizer first(whole.list, whole.train), before(part.list, part.train);
  const auto run = [](Reference& reference, Optimizer& optimizer, std::int64_t from,
                      std::int64_t to) {
    for (std::int64_t step = from; step <= to; ++step) {
      reference.set_gradients(step);
      optimizer.clip_gradients();
      optimizer.step(reference.at_step("learning_rate", step), step);
    }
  };
  run(whole, first, 1, 20);
  run(part, before, 1, 11);
  Optimizer after(part.list, part.train);
  after.load_state(before.state(), "state");
  run(part, after, 12, 20);
  for (std::size_t i = 0; i < whole.list.size(); ++i)
    EXPECT_TRUE(whole.list[i].second->value.equal(part.list[i].second->value));
}

TEST(AdamW, ClipsOnlyWhatIsTooLong) {
  Reference reference;
  auto train = reference.train;
  train.clip = 0.0;
  Optimizer never(reference.list, train);
  reference.set_gradients(1);
  const double norm = never.clip_gradients();
  EXPECT_NEAR(never.clip_gradients(), norm, 1e-12);
  train.clip = norm / 4;
  Optimizer quarter(reference.list, train);
  EXPECT_NEAR(quarter.clip_gradients(), norm, 1e-12);
  EXPECT_NEAR(quarter.clip_gradients(), norm / 4, 1e-6 * norm);
}

TEST(AdamW, RefusesForeignState) {
  Reference reference;
  Optimizer optimizer(reference.list, reference.train);
  auto state = optimizer.state();
  state.tensors["m.matrix"] = at::zeros({1});
  EXPECT_THROW(optimizer.load_state(state, "state"), Error);
  state = optimizer.state();
  state.tensors.erase("v.vector");
  EXPECT_THROW(optimizer.load_state(state, "state"), Error);
  state = optimizer.state();
  state.tensors["extra"] = at::zeros({1});
  EXPECT_THROW(optimizer.load_state(state, "state"), Error);
}

TEST(AdamW, MatrixLearningRateScaleTouchesHiddenMatricesOnly) {
  Reference plain, scaled;
  auto train = scaled.train;
  train.matrix_lr_scale = 2.0;
  train.weight_decay = plain.train.weight_decay = 0.0;
  Optimizer one(plain.list, plain.train), two(scaled.list, train);
  const auto before = plain.matrix.value.detach().clone();
  for (auto* reference : {&plain, &scaled}) reference->set_gradients(1);
  one.step(1e-3, 1);
  two.step(1e-3, 1);
  EXPECT_LE(distance((scaled.matrix.value - before) / 2.0, plain.matrix.value - before), 1e-3);
  EXPECT_TRUE(scaled.vector.value.equal(plain.vector.value));
  EXPECT_TRUE(scaled.small.value.equal(plain.small.value));
}

}  // namespace
}  // namespace rondo
