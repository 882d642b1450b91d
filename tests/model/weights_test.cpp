// Weights on disk: round trip, tying, and every refusal.
#include "model/weights.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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
    const auto model = initial_model(config.model, 3);
    write_safetensors(path, weights_file(model, config));
    const auto file = read_safetensors(path);
    EXPECT_EQ(file.tensors.contains("head.weight"), !tied);
    EXPECT_EQ(file.metadata.at("rondo.aliases"), tied ? R"({"head.weight":"embed.weight"})" : "{}");
    auto stored = read_model(path);
    EXPECT_EQ(to_toml(stored.config), to_toml(config));
    EXPECT_EQ(std::get<LoopedLm>(stored.model).head.has_value(), !tied);
    const ModelPass before(model, tiny_input()), after(stored.model, tiny_input());
    EXPECT_TRUE(
        before.logits(before.run({.loops = 2})).equal(after.logits(after.run({.loops = 2}))));
  }
  fs::remove(path);
}

TEST(Weights, RefusesWhatDoesNotFit) {
  const auto config = tiny_config();
  const auto good = weights_file(initial_model(config.model, 3), config);
  const auto load = [&](const TensorFile& file) {
    auto model = make_model(config.model);
    return error_of([&] { load_weights(model, file, "w"); });
  };
  EXPECT_EQ(load(good), "no error");
  auto file = good;
  file.tensors.erase("core.1.mlp.up.weight");
  EXPECT_EQ(load(file),
            "w: tensor core.1.mlp.up.weight is missing; expected shape [20, 12] in this model");
  file = good;
  file.tensors["loop_norm.weight"] = at::zeros({13});
  EXPECT_EQ(load(file), "w: tensor loop_norm.weight has shape [13], expected [12] in this model");
  file = good;
  file.tensors["extra"] = at::zeros({1});
  EXPECT_EQ(load(file),
            "w: tensor extra is not part of this model; expected weights of the same architecture");
  file = good;
  file.tensors["final_norm.weight"] = at::zeros({12}, at::kLong);
  EXPECT_EQ(load(file), "w: tensor final_norm.weight does not hold floating-point numbers");
}

TEST(Weights, OfAnRltRoundTrip) {
  const auto path = fs::temp_directory_path() / ("rondo-rlt-" + std::to_string(::getpid()));
  for (const Overrides& extra : {Overrides{},
                                 {"model.qk_norm=gain", "model.tied_head=true"},
                                 {"model.share_blocks=true", "model.encoder_layers=2"},
                                 {"model.decoder_layers=0"},
                                 {"model.feedback_interval=0"}}) {
    const auto config = tiny_rlt_config(extra);
    const auto model = initial_model(config.model, 3);
    write_safetensors(path, weights_file(model, config));
    const auto stored = read_model(path);
    EXPECT_EQ(to_toml(stored.config), to_toml(config));
    const ModelPass before(model, tiny_input()), after(stored.model, tiny_input());
    EXPECT_TRUE(before.logits(before.run({})).equal(after.logits(after.run({}))));
  }
  fs::remove(path);
}

TEST(Weights, SharedBlocksAreStoredOnceUnderTwoNames) {
  const auto config =
      tiny_rlt_config({"model.share_blocks=true", "model.encoder_layers=2", "model.qk_norm=gain"});
  const auto file = weights_file(initial_model(config.model, 3), config);
  const auto aliases = nlohmann::json::parse(file.metadata.at("rondo.aliases"));
  EXPECT_EQ(aliases.size(), 14U);
  EXPECT_EQ(aliases["decoder.1.mlp.down.weight"], "encoder.1.mlp.down.weight");
  for (const auto& [alias, stored] : aliases.items()) {
    EXPECT_FALSE(file.tensors.contains(alias)) << alias;
    EXPECT_TRUE(file.tensors.contains(stored.get<std::string>())) << alias;
  }
  for (const char* own : {"attn_norm", "attn.q_norm", "attn.k_norm", "cross.q", "cross.q_norm",
                          "cross.o", "cross_norm", "mlp_norm"})
    EXPECT_TRUE(file.tensors.contains(fmt::format("decoder.1.{}.weight", own))) << own;
}

TEST(Weights, OfAnotherSplitAreRefused) {
  const auto config = tiny_rlt_config();
  const auto file = weights_file(initial_model(config.model, 3), config);
  const auto load = [&](const ModelConfig& other) {
    auto model = make_model(other);
    return error_of([&] { load_weights(model, file, "w"); });
  };
  EXPECT_EQ(load(config.model), "no error");
  EXPECT_EQ(
      load(tiny_rlt_config({"model.encoder_layers=2", "model.decoder_layers=1"}).model),
      "w: holds an RLT of 1 encoder and 2 decoder layers, and this is an RLT of 2 encoder and "
      "1 decoder layers; use weights of the same split");
  EXPECT_EQ(
      load(tiny_config().model),
      "w: holds an RLT of 1 encoder and 2 decoder layers, and this is a looped model of 1 + 2 "
      "+ 1 layers; use weights of the same split");
  EXPECT_EQ(load(tiny_rlt_config({"model.feedback_interval=0"}).model),
            "w: tensor merge.gate.bias is not part of this model; expected weights of the same "
            "architecture");
}

TEST(Weights, AnIntervalMayChangeButNotComeOrGo) {
  auto model = make_model(tiny_rlt_config({"model.feedback_interval=4"}).model);
  auto parallel = make_model(tiny_rlt_config({"model.feedback_interval=0"}).model);
  auto looped = make_model(tiny_config().model);
  const auto change = [](Model& any, std::int64_t interval) {
    return error_of([&] { set_feedback_interval(any, interval, "--feedback-interval"); });
  };
  EXPECT_EQ(change(model, 1), "no error");
  EXPECT_EQ(config_of(model).feedback_interval, 1);
  EXPECT_EQ(change(model, 0),
            "--feedback-interval 0: the model was trained with interval 1, and its merge cannot be "
            "left out; expected 1 or more");
  EXPECT_EQ(change(parallel, 4),
            "--feedback-interval 4: the model was trained with interval 0, without feedback, and "
            "has no weights for any; expected 0");
  EXPECT_EQ(change(looped, 1),
            "--feedback-interval 1: this model is looped and feeds nothing back; leave it out");
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
