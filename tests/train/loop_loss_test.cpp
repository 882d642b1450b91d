// Losses of several loops: weights, truncation, gradients against losses taken one by one, costs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cost/flops.h"
#include "cost/memory.h"
#include "eval/loss.h"
#include "tests/model/support.h"
#include "train/run_data.h"
#include "train/step.h"

namespace rondo {
namespace {

using namespace testing_models;
using reference::distance;

Config loop_config(const Overrides& extra) {
  Overrides set = {"model.layout=1+1x4+1", "model.injection=channel", "model.loop_norm=false",
                   "model.d_model=12",     "model.heads=3",           "model.d_ff=32",
                   "model.vocab=277",      "train.batch=4",           "train.clip=0",
                   "train.micro_batch=2",  "data.sequence_length=8",  "data.source=task",
                   "data.task=parity",     "data.max_length=6",       "data.length_groups=1"};
  set.insert(set.end(), extra.begin(), extra.end());
  return parse_recipe("", "recipe", set);
}

struct FirstStep {
  StepResult result;
  std::map<std::string, Tensor> gradients;
};

FirstStep first_step(const Config& config) {
  const RunData data(config.data);
  Model model = initial_model(config.model, 3);
  fill_with_values(model, at::kFloat);
  Optimizer optimizer(named_parameters(model), config.train);
  FirstStep step{.result = run_step(config, data.batches(config.train), model, optimizer, 1),
                 .gradients = {}};
  visit_parameters(model, [&](const std::string& name, const Parameter& parameter) {
    step.gradients[name] = parameter.value.grad().clone();
  });
  return step;
}

/// The step that reads out loop `loop` alone: one of so many loops, as passes of a model without
/// timesteps nest. Of B back-propagated loops of T the last is loop T, so B falls with T.
FirstStep alone(const Overrides& extra, std::int64_t loop, std::int64_t backward) {
  auto set = extra;
  set.insert(set.end(), {fmt::format("model.layout=1+1x{}+1", loop),
                         fmt::format("loops.backward={}", backward)});
  return first_step(loop_config(set));
}

TEST(LoopLoss, IsTheWeightedSumOfTheLossesOfItsLoops) {
  for (const bool recompute : {false, true})
    for (const std::int64_t backward : {4, 2, 1})
      for (const std::string kind : {"mean", "linear"}) {
        SCOPED_TRACE(fmt::format("{} B {} recompute {}", kind, backward, recompute));
        const Overrides keys = {fmt::format("loops.recompute={}", recompute)};
        auto set = keys;
        set.insert(set.end(),
                   {"train.loop_loss=" + kind, fmt::format("loops.backward={}", backward)});
        const auto all = first_step(loop_config(set));
        ASSERT_EQ(all.result.loop_losses.size(), static_cast<std::size_t>(backward));
        std::map<std::string, Tensor> expected;
        double weights = 0;
        for (auto loop = 4 - backward + 1; loop <= 4; ++loop)
          weights += kind == "mean" ? 1.0 : static_cast<double>(loop);
        for (auto loop = 4 - backward + 1; loop <= 4; ++loop) {
          const auto one = alone(keys, loop, loop - (4 - backward));
          const double weight = (kind == "mean" ? 1.0 : static_cast<double>(loop)) / weights;
          EXPECT_NEAR(all.result.loop_losses[static_cast<std::size_t>(loop - (4 - backward) - 1)],
                      one.result.loss_nats, 1e-5);
          for (const auto& [name, gradient] : one.gradients)
            expected[name] =
                expected.contains(name) ? expected[name] + weight * gradient : weight * gradient;
        }
        EXPECT_DOUBLE_EQ(all.result.loss_nats, all.result.loop_losses.back());
        for (const auto& [name, gradient] : all.gradients)
          EXPECT_LE(distance(gradient, expected.at(name)), 2e-5) << name;
      }
}

TEST(LoopLoss, OfTheLastLoopIsOff) {
  const auto plain = first_step(loop_config({"loops.backward=2"}));
  EXPECT_TRUE(plain.result.loop_losses.empty());
  // With one loop back-propagated there is nothing to weigh.
  const auto last = first_step(loop_config({"loops.backward=1"}));
  const auto mean = first_step(loop_config({"loops.backward=1", "train.loop_loss=mean"}));
  for (const auto& [name, gradient] : last.gradients)
    EXPECT_TRUE(gradient.equal(mean.gradients.at(name))) << name;
}

TEST(LoopLoss, CostsACodaAndAHeadForEveryReadOut) {
  const auto last = loop_config({"loops.backward=3"});
  const auto mean = loop_config({"loops.backward=3", "train.loop_loss=mean"});
  const auto one = flops_per_token(last), three = flops_per_token(mean);
  const double layer = 4 * 12 * 12 + 3 * 12 * 32;
  EXPECT_DOUBLE_EQ(three.train_matmul - one.train_matmul, 2 * 6 * layer);
  EXPECT_DOUBLE_EQ(three.train_head, 3 * one.train_head);
  const auto length = static_cast<double>(mean.data.sequence_length);
  EXPECT_NEAR(three.train_attention - one.train_attention, 2 * 3 * 4 * 12 * (length + 1) / 2, 1e-9);
  EXPECT_EQ(three.forward, one.forward);
  EXPECT_GT(activation_bytes(mean, 277, {.micro_batch = 2}).total(),
            activation_bytes(last, 277, {.micro_batch = 2}).total());
  // A step that draws fewer loops reads out fewer.
  EXPECT_EQ(read_outs(mean.train, {2, 2}), 2);
  EXPECT_EQ(read_outs(last.train, {2, 2}), 1);
}

}  // namespace
}  // namespace rondo
