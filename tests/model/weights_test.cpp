// Weights on disk: round trip, tying, and every refusal.
#include "model/weights.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/model/support.h"

namespace rondo {
namespace {

using namespace testing_models;

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Weights, RoundTripWithConfigAndAliases) {
  const auto path = fs::temp_directory_path() / ("rondo-weights-" + std::to_string(::getpid()));
  for (const bool tied : {false, true}) {
    const auto config = tiny_config({fmt::format("model.tied_head={}", tied)});
    const auto model = initial_looped_lm(config.model, 3);
    write_safetensors(path, weights_file(model, config));
    const auto file = read_safetensors(path);
    EXPECT_EQ(file.tensors.contains("head.weight"), !tied);
    EXPECT_EQ(file.metadata.at("rondo.aliases"), tied ? R"({"head.weight":"embed.weight"})" : "{}");
    auto stored = read_model(path);
    EXPECT_EQ(to_toml(stored.config), to_toml(config));
    EXPECT_EQ(stored.model.head.has_value(), !tied);
    const LoopedPass before(model, tiny_input()), after(stored.model, tiny_input());
    EXPECT_TRUE(
        before.logits(before.run({.loops = 2})).equal(after.logits(after.run({.loops = 2}))));
  }
  fs::remove(path);
}

TEST(Weights, RefusesWhatDoesNotFit) {
  const auto config = tiny_config();
  const auto good = weights_file(initial_looped_lm(config.model, 3), config);
  const auto load = [&](const TensorFile& file) {
    auto model = make_looped_lm(config.model);
    return error_of([&] { load_weights(model, file, "w"); });
  };
  EXPECT_EQ(load(good), "no error");
  auto file = good;
  file.tensors.erase("core.1.mlp.up.weight");
  EXPECT_EQ(load(file), "w: tensor core.1.mlp.up.weight is missing; expected shape [20, 12]");
  file = good;
  file.tensors["loop_norm.weight"] = at::zeros({13});
  EXPECT_EQ(load(file), "w: tensor loop_norm.weight has shape [13], expected [12] from its config");
  file = good;
  file.tensors["extra"] = at::zeros({1});
  EXPECT_EQ(load(file), "w: tensor extra is not part of the model of its config");
  file = good;
  file.tensors["final_norm.weight"] = at::zeros({12}, at::kLong);
  EXPECT_EQ(load(file), "w: tensor final_norm.weight does not hold floating-point numbers");
}

TEST(Weights, TiedHeadIsOneStorage) {
  const auto config = tiny_config({"model.tied_head=true"});
  auto model = initial_looped_lm(config.model, 3);
  int embeddings = 0;
  visit_parameters(model, [&](const std::string& name, Parameter&) {
    embeddings += name == "embed.weight" || name == "head.weight";
  });
  EXPECT_EQ(embeddings, 1);
  const auto before = loss_of(model, tiny_input(), {.loops = 1});
  {
    const NoGrad guard;
    model.embed.weight.value.mul_(1.5);
  }
  EXPECT_NE(before.item<double>(), loss_of(model, tiny_input(), {.loops = 1}).item<double>());
}

}  // namespace
}  // namespace rondo
