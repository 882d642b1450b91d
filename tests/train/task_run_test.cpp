// Runs on tasks: grouping changes neither loss nor gradient, resuming changes nothing, the score
// that is reported is the score.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "config/recipe.h"
#include "data/task_tokens.h"
#include "eval/open_model.h"
#include "eval/task_eval.h"
#include "record/checkpoints.h"
#include "record/run.h"
#include "record/run_folder.h"
#include "train/run_data.h"
#include "train/seeds.h"
#include "train/step.h"
#include "train/trainer.h"

namespace rondo {
namespace {

const std::vector<std::string> kKinds = {"looped", "rlt"};

Config recipe(const std::string& kind, const Overrides& extra = {}) {
  Overrides set = {"model.kind=" + kind,
                   "model.d_model=16",
                   "model.heads=2",
                   "data.source=task",
                   "data.task=parity",
                   "data.max_length=12",
                   "data.validation_examples=16",
                   "data.test_examples=8",
                   "train.steps=12",
                   "train.batch=12",
                   "train.micro_batch=3",
                   "train.warmup_steps=2",
                   "train.learning_rate=0.01",
                   "train.validate_every=4",
                   "train.checkpoint_every=5",
                   "train.keep=2",
                   "engine.threads=1"};
  if (kind == "looped")
    set.insert(set.end(), {"model.core_layers=1", "loops.forward=2", "loops.backward=1",
                           "loops.sampler=uniform"});
  else
    set.insert(set.end(), {"model.encoder_layers=1", "model.decoder_layers=1", "model.window=3"});
  set.insert(set.end(), extra.begin(), extra.end());
  return parse_recipe("", "recipe", set);
}

/// Loss and gradients of the first step with micro-batches of `rows`.
std::pair<double, std::vector<Tensor>> first_step(Config config, std::int64_t rows) {
  config.model.vocab = kTaskVocab;
  config.train.micro_batch = rows;
  config.train.clip = 0;
  const RunData data(config.data);
  auto model = initial_model(config.model, 3);
  Optimizer optimizer(named_parameters(model), config.train);
  const auto result = run_step(config, data.batches(config.train), model, optimizer, 1);
  std::vector<Tensor> gradients;
  visit_parameters(model, [&](const std::string&, const Parameter& parameter) {
    if (parameter.value.grad().defined()) gradients.push_back(parameter.value.grad().clone());
  });
  return {result.loss_nats, gradients};
}

TEST(TaskRun, GroupingChangesNeitherLossNorGradient) {
  for (const auto& kind : kKinds)
    for (const char* task : {"parity", "addition"}) {
      Overrides set = {std::string("data.task=") + task, "data.max_length=8"};
      if (std::string_view(kind).find("rlt") == std::string_view::npos)
        set.push_back("loops.sampler=fixed");
      auto config = recipe(kind, set);
      const auto [loss, gradients] = first_step(config, 12);
      ASSERT_FALSE(gradients.empty());
      for (const std::int64_t rows : {1, 4}) {
        const auto [other, others] = first_step(config, rows);
        EXPECT_NEAR(other, loss, 1e-6 * loss) << kind << " " << task << " " << rows;
        ASSERT_EQ(others.size(), gradients.size());
        for (std::size_t i = 0; i < gradients.size(); ++i) {
          const double scale = gradients[i].abs().max().item<double>() + 1e-4;
          EXPECT_LT((others[i] - gradients[i]).abs().max().item<double>(), 1e-5 * scale + 1e-7)
              << kind << " " << task << " " << rows << " " << i;
        }
      }
    }
}

// The loss by its definition: each example alone, the mean over its targets, the mean over
// examples.
TEST(TaskRun, TheLossIsTheMeanOverExamplesOfTheMeanOverTargets) {
  auto config =
      recipe("looped", {"data.task=addition", "data.max_length=5", "loops.sampler=fixed"});
  const auto [loss, gradients] = first_step(config, 4);
  config.model.vocab = kTaskVocab;
  const NoGrad guard;
  const TaskData data(config.data);
  const auto model = initial_model(config.model, 3);
  double sum = 0;
  for (std::uint64_t i = 0; i < 12; ++i) {
    const auto sample = data.training(i);
    const ModelPass pass(
        model,
        {.tokens_BT = token_tensor(sample.tokens, 1), .documents_BT = {}, .sample_keys = {}});
    const auto logits = pass.logits(pass.run({.loops = 2}))[0].to(at::kDouble).log_softmax(1);
    double nats = 0, count = 0;
    for (std::size_t t = 0; t < sample.targets.size(); ++t)
      if (sample.targets[t] != kNoTarget) {
        nats -= logits[static_cast<std::int64_t>(t)][sample.targets[t]].item<double>();
        ++count;
      }
    sum += nats / count;
  }
  EXPECT_NEAR(loss, sum / 12, 1e-5);
}

class TaskRuns : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("rondo-task-run-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  TrainOptions options(const std::string& name, bool resume = false) const {
    return {.out = folder_ / name, .resume = resume, .init = {}, .command = {}, .label = {}};
  }
  std::vector<double> losses(const std::string& name) const {
    std::vector<double> found;
    for (const auto& event : read_run(folder_ / name).steps) found.push_back(event.train_loss_nats);
    return found;
  }
  fs::path folder_;
};

TEST_F(TaskRuns, ResumeBitForBit) {
  for (const auto& kind : kKinds) {
    const auto whole = train(recipe(kind), options(kind));
    for (const int stop : {1, 7}) {
      const auto name = fmt::format("{}-{}", kind, stop);
      train(recipe(kind, {fmt::format("train.stop_after={}", stop)}), options(name));
      const auto rest = train(recipe(kind), options(name, true));
      EXPECT_EQ(losses(kind), losses(name));
      EXPECT_EQ(rest["accuracy"], whole["accuracy"]);
      EXPECT_EQ(rest["validation_loss_nats"], whole["validation_loss_nats"]);
      EXPECT_EQ(rest["length_sweep"], whole["length_sweep"]);
      EXPECT_EQ(rest["selected"], whole["selected"]);
      EXPECT_EQ(rest["tokens"], whole["tokens"]);
      const auto left = read_safetensors(find_weights(folder_ / kind));
      const auto right = read_safetensors(find_weights(folder_ / name));
      for (const auto& [key, tensor] : left.tensors)
        EXPECT_TRUE(tensor.equal(right.tensors.at(key))) << key;
    }
  }
}

// Selected is the earliest validation of lowest loss; its checkpoint is there and is what the sweep
// was made with.
TEST_F(TaskRuns, SweepTheSelectedCheckpoint) {
  const auto summary =
      train(recipe("rlt", {"train.learning_rate=0.3", "train.weight_decay=0"}), options("run"));
  const auto run = read_run(folder_ / "run");
  const ValidationEvent* best = nullptr;
  for (const auto& event : run.validations)
    if (best == nullptr || event.validation_loss_nats < best->validation_loss_nats) best = &event;
  ASSERT_NE(best, nullptr);
  EXPECT_EQ(summary["selected"]["step"], best->step);
  EXPECT_EQ(run.summary.selected_step, static_cast<double>(best->step));
  const auto opened = open_model(folder_ / "run", true);
  EXPECT_NE(opened.file.string().find(checkpoint_name(best->step)), std::string::npos);

  const TaskData data(opened.stored.config.data);
  std::size_t row = 0;
  for (const auto& set : data.test()) {
    // Example by example, without batches.
    std::int64_t right = 0;
    const NoGrad guard;
    for (const auto& sample : set.samples) {
      const ModelPass pass(
          opened.stored.model,
          {.tokens_BT = token_tensor(sample.tokens, 1), .documents_BT = {}, .sample_keys = {}});
      const auto answer = pass.logits(pass.run({}))[0][-1].argmax().item<std::int64_t>();
      right += answer == sample.targets.back() ? 1 : 0;
    }
    const auto& point = run.summary.length_sweep.at(row);
    row += 2;  // accuracy, loss
    EXPECT_EQ(point.length, set.lengths.max);
    EXPECT_EQ(point.value, static_cast<double>(right) / static_cast<double>(set.samples.size()));
  }
  EXPECT_EQ(row, run.summary.length_sweep.size());
}

TEST_F(TaskRuns, SeedsChangeTheStartAndNotTheExamples) {
  const std::vector<std::int64_t> seeds = {1, 2};
  const auto done = train_seeds(recipe("looped", {"loops.sampler=fixed"}), seeds, options("seeds"));
  EXPECT_EQ(done.summary["accuracy"]["values"].size(), 2U);
  EXPECT_FALSE(done.summary.contains("bits_per_byte"));
  const auto a = read_run(folder_ / "seeds/seed-1"), b = read_run(folder_ / "seeds/seed-2");
  EXPECT_EQ(a.summary.data_sha256, b.summary.data_sha256);
  EXPECT_EQ(a.summary.tokens, b.summary.tokens);
  EXPECT_NE(a.steps.front().train_loss_nats, b.steps.front().train_loss_nats);
}

TEST_F(TaskRuns, NeedTheTasksIds) {
  try {
    train(recipe("looped", {"model.vocab=256"}), options("run"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "model.vocab = 256 is smaller than the task's 277 ids; leave it 0 or make it larger");
  }
}

}  // namespace
}  // namespace rondo
