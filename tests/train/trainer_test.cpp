// Whole runs of tiny models: resume, accumulation, divergence, pruning, refusals.
#include "train/trainer.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/interrupt.h"
#include "config/recipe.h"
#include "eval/open_model.h"
#include "record/checkpoints.h"
#include "record/run.h"
#include "record/run_folder.h"
#include "train/checkpoint.h"
#include "train/dry_run.h"
#include "train/seeds.h"

namespace rondo {
namespace {

class Trainer : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("rondo-trainer-" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "text");
    for (int i = 0; i < 30; ++i) {
      std::ofstream out(folder_ / "text" / fmt::format("{:02}.txt", i));
      for (int line = 0; line < 12; ++line)
        out << "document " << i << " says " << line * i << " and then " << line << "\n";
    }
  }
  void TearDown() override {
    set_interrupt(0);
    fs::remove_all(folder_);
  }

  /// A recipe of a tiny model; loops are sampled and truncated, four micro-batches a step.
  Config recipe(const Overrides& extra = {}) const {
    Overrides set = {"model.d_model=16",
                     "model.heads=2",
                     "model.core_layers=1",
                     "loops.forward=3",
                     "loops.backward=2",
                     "loops.sampler=poisson-lognormal",
                     "data.sequence_length=16",
                     "data.path=" + (folder_ / "text").string(),
                     "data.validation=0.2",
                     "data.validation_tokens=256",
                     "train.steps=20",
                     "train.batch=8",
                     "train.micro_batch=2",
                     "train.warmup_steps=3",
                     "train.validate_every=6",
                     "train.checkpoint_every=7",
                     "train.keep=3",
                     "engine.threads=1"};
    set.insert(set.end(), extra.begin(), extra.end());
    return parse_recipe("", "recipe", set);
  }
  TrainOptions options(const std::string& name, bool resume = false) const {
    return {.out = folder_ / name, .resume = resume, .init = {}, .command = {}, .label = {}};
  }
  std::string error_of(const Config& config, const TrainOptions& how) const {
    try {
      train(config, how);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  /// Losses by step as they are written.
  std::vector<double> losses(const std::string& name) const {
    std::vector<double> found;
    for (const auto& event : read_run(folder_ / name).steps) found.push_back(event.train_loss_nats);
    return found;
  }
  void expect_equal_weights(const std::string& a, const std::string& b) const {
    const auto left = read_safetensors(find_weights(folder_ / a));
    const auto right = read_safetensors(find_weights(folder_ / b));
    for (const auto& [name, tensor] : left.tensors)
      EXPECT_TRUE(tensor.equal(right.tensors.at(name))) << name;
  }

  fs::path folder_;
};

TEST_F(Trainer, ResumesBitForBitAtOddSteps) {
  const auto whole = train(recipe(), options("whole"));
  EXPECT_EQ(whole["stop_reason"], "finished");
  for (const int stop : {1, 11, 19}) {
    const auto name = fmt::format("parts-{}", stop);
    const auto first = train(recipe({fmt::format("train.stop_after={}", stop)}), options(name));
    EXPECT_EQ(first["stop_reason"], "stop_after");
    EXPECT_EQ(first["steps"], stop);
    const auto second = train(recipe(), options(name, true));
    EXPECT_EQ(losses("whole"), losses(name));
    EXPECT_EQ(second["validation_loss_nats"], whole["validation_loss_nats"]);
    EXPECT_EQ(second["flops"], whole["flops"]);
    expect_equal_weights("whole", name);
  }
}

TEST_F(Trainer, ResumeTakesMomentsFromTheCheckpointAndNotFromTheRecipe) {
  train(recipe({"train.stop_after=5"}), options("run"));
  const auto message = error_of(recipe({"train.betas=[0.8, 0.99]"}), options("run", true));
  EXPECT_NE(message.find("train.betas: [0.9, 0.95] → [0.8, 0.99]"), std::string::npos) << message;
  EXPECT_NE(error_of(recipe({"train.steps=30"}), options("run", true)).find("train.steps: 20 → 30"),
            std::string::npos);
  // What lies outside the hash may change.
  EXPECT_EQ(error_of(recipe({"train.validate_every=5", "train.keep=9"}), options("run", true)),
            "no error");
}

TEST_F(Trainer, AnInterruptSavesAndTheRunGoesOn) {
  train(recipe(), options("whole"));
  set_interrupt(SIGINT);
  const auto first = train(recipe(), options("run"));
  EXPECT_EQ(first["stop_reason"], "interrupted");
  EXPECT_EQ(first["steps"], 1);
  set_interrupt(0);
  train(recipe(), options("run", true));
  EXPECT_EQ(losses("whole"), losses("run"));
  expect_equal_weights("whole", "run");
}

TEST_F(Trainer, AccumulationEqualsOneBigBatch) {
  train(recipe({"train.micro_batch=2"}), options("small"));
  train(recipe({"train.micro_batch=8"}), options("big"));
  const auto small = losses("small"), big = losses("big");
  ASSERT_EQ(small.size(), big.size());
  for (std::size_t i = 0; i < small.size(); ++i) EXPECT_NEAR(small[i], big[i], 2e-4) << i;
  EXPECT_NEAR(small[0], big[0], 1e-6);
}

TEST_F(Trainer, FusedAndComposedTrainAlike) {
  train(recipe({"engine.fused=true"}), options("fused"));
  train(recipe({"engine.fused=false"}), options("composed"));
  const auto a = losses("fused"), b = losses("composed");
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 2e-4) << i;
}

TEST_F(Trainer, RecomputationTrainsAlike) {
  train(recipe(), options("kept"));
  train(recipe({"loops.recompute=true"}), options("recomputed"));
  const auto a = losses("kept"), b = losses("recomputed");
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 2e-4) << i;
}

TEST_F(Trainer, DivergenceStopsWithARecordAndTheLastGoodCheckpoint) {
  const auto result = train(recipe({"train.learning_rate=1e15", "train.min_learning_rate=0",
                                    "train.warmup_steps=6", "train.clip=0", "model.loop_norm=false",
                                    "train.checkpoint_every=1", "train.validate_every=0"}),
                            options("run"));
  EXPECT_EQ(result["stop_reason"], "diverged");
  EXPECT_EQ(read_run(folder_ / "run").state, RunState::kDiverged);
  for (const auto& entry : list_checkpoints(folder_ / "run" / "checkpoints"))
    for (const auto& [name, tensor] : read_safetensors(entry.path / kWeightsFile).tensors)
      EXPECT_TRUE(tensor.isfinite().all().item<bool>()) << name;
}

TEST_F(Trainer, KeepsTheLastOnesAndTheBest) {
  train(recipe({"train.checkpoint_every=2", "train.validate_every=2", "train.keep=2"}),
        options("run"));
  const auto entries = list_checkpoints(folder_ / "run" / "checkpoints");
  ASSERT_GE(entries.size(), 2U);
  EXPECT_EQ(entries.back().manifest.step, 20);
  EXPECT_EQ(entries[entries.size() - 2].manifest.step, 18);
  double best = 1e9;
  for (const auto& event : read_run(folder_ / "run").validations)
    best = std::min(best, event.validation_loss_nats);
  EXPECT_EQ(*best_checkpoint(entries).manifest.validation_loss_nats, best);
}

TEST_F(Trainer, WritesSweepNormsAndSummary) {
  const auto summary = train(recipe(), options("run"));
  for (const char* key : {"steps", "tokens", "flops", "train_loss_nats", "validation_loss_nats",
                          "bits_per_byte", "tokens_per_s", "wall_s", "peak_bytes", "parameters",
                          "seed", "config_hash", "version", "libtorch", "machine"})
    EXPECT_FALSE(summary[key].is_null()) << key;
  EXPECT_EQ(summary["depth_sweep"].size(), 12U);
  const auto run = read_run(folder_ / "run");
  EXPECT_EQ(run.state, RunState::kFinished);
  for (const auto& event : run.steps)
    EXPECT_EQ(static_cast<double>(event.state_norms.size()), event.loops);
  EXPECT_EQ(run.validations.back().by_loops.size(), 12U);
  double flops = 0;
  for (const auto& event : run.steps) EXPECT_GT(event.flops, flops), flops = event.flops;
}

TEST_F(Trainer, RefusesToMixRuns) {
  train(recipe({"train.steps=1"}), options("run"));
  EXPECT_NE(error_of(recipe(), options("run")).find("holds a run already"), std::string::npos);
  EXPECT_NE(error_of(recipe(), options("none", true)).find("no run to resume"), std::string::npos);
}

TEST_F(Trainer, RefusesDamagedCheckpoints) {
  train(recipe({"train.stop_after=9", "train.keep_best=false"}), options("run"));
  const auto resume = [&] {
    return error_of(recipe({"train.keep_best=false"}), options("run", true));
  };
  const auto checkpoint = folder_ / "run" / "checkpoints" / "step-00000009";
  const auto damage = [&](const fs::path& file, const std::string& content,
                          std::string_view expected) {
    const std::string good = read_file(file);
    std::ofstream(file, std::ios::binary) << content;
    EXPECT_NE(resume().find(expected), std::string::npos) << resume();
    std::ofstream(file, std::ios::binary) << good;
  };
  const auto weights = read_file(checkpoint / kWeightsFile);
  damage(checkpoint / kWeightsFile, weights.substr(0, weights.size() - 8), "truncated or altered");
  auto altered = read_file(checkpoint / kStateFile);
  altered[altered.size() - 3] ^= 1;
  damage(checkpoint / kStateFile, altered, "state.safetensors: truncated or altered");
  damage(checkpoint / kManifestFile, "{\"format\": 2}", "checkpoint format 2");
  damage(checkpoint / kManifestFile, "nonsense", "not a JSON object");
  auto manifest = nlohmann::json::parse(read_file(checkpoint / kManifestFile));
  manifest["config_hash"] = "0000";
  damage(checkpoint / kManifestFile, manifest.dump(), "written under another config");
  manifest.erase("files");
  damage(checkpoint / kManifestFile, manifest.dump(), "key files is missing");
  EXPECT_EQ(resume(), "no error");
}

TEST_F(Trainer, InitStartsFromOtherWeights) {
  train(recipe({"train.steps=3"}), options("first"));
  auto how = options("second");
  how.init = folder_ / "first";
  train(recipe({"train.steps=1", "train.learning_rate=0", "train.min_learning_rate=0"}), how);
  expect_equal_weights("first", "second");
  how = options("third");
  how.init = folder_ / "first";
  EXPECT_NE(error_of(recipe({"model.d_model=24"}), how).find("has shape"), std::string::npos);
}

TEST_F(Trainer, SeedsGiveMeanSpreadAndEverySeed) {
  const std::vector<std::int64_t> seeds = {1, 2, 3};
  const auto result = train_seeds(recipe({"train.steps=4"}), seeds, options("many"));
  EXPECT_FALSE(result.failed);
  EXPECT_EQ(result.summary["finished"], 3);
  EXPECT_EQ(result.summary["validation_loss_nats"]["values"].size(), 3U);
  EXPECT_GT(result.summary["validation_loss_nats"]["sd"].get<double>(), 0.0);
  EXPECT_TRUE(is_run(folder_ / "many" / "seed-2"));
  const auto again = train_seeds(recipe({"train.steps=4"}), seeds, options("many", true));
  EXPECT_EQ(again.summary["validation_loss_nats"], result.summary["validation_loss_nats"]);
}

TEST_F(Trainer, SixtyFourLoopsStayFiniteOrStopWithARecord) {
  for (const bool norm : {true, false}) {
    const auto name = fmt::format("norm-{}", norm);
    const auto result = train(
        recipe({fmt::format("model.loop_norm={}", norm), "loops.forward=64", "loops.sampler=fixed",
                "loops.backward=8", "train.steps=3", "train.validate_every=0"}),
        options(name));
    if (norm) {
      EXPECT_EQ(result["stop_reason"], "finished");
    }
    if (result["stop_reason"] == "finished") {
      EXPECT_TRUE(result["validation_loss_nats"].is_number());
    } else {
      EXPECT_EQ(result["stop_reason"], "diverged");
    }
  }
}

TEST_F(Trainer, DryRunWritesNothing) {
  const auto plan = plan_training(recipe(), folder_ / "nowhere");
  EXPECT_FALSE(fs::exists(folder_ / "nowhere"));
  EXPECT_EQ(plan["tokens"].get<double>(), 20.0 * 8 * 16);
}

}  // namespace
}  // namespace rondo
