// A step on strings of many lengths: the fused form, which leaves the filling out, against the
// composed one, which runs it through.
#include <gtest/gtest.h>

#include "nn/engine.h"
#include "tests/model/support.h"
#include "train/run_data.h"
#include "train/step.h"

namespace rondo {
namespace {

using namespace testing_models;

struct Step {
  StepResult result;
  std::map<std::string, Tensor> gradients;
};

Step first_step(const Overrides& extra, bool fused) {
  Overrides set = {"model.kind=rlt",         "model.d_model=12",
                   "model.heads=3",          "model.d_ff=32",
                   "model.encoder_layers=2", "model.decoder_layers=2",
                   "model.vocab=277",        "model.window=3",
                   "data.source=task",       "data.min_length=2",
                   "data.max_length=30",     "train.batch=40",
                   "train.micro_batch=40",   "train.clip=0"};
  set.insert(set.end(), extra.begin(), extra.end());
  const auto config = parse_recipe("", "recipe", set);
  const RunData data(config.data);
  Model model = initial_model(config.model, 3);
  fill_with_values(model, at::kFloat);
  set_form(model, fused ? Form::kFused : Form::kComposed);
  Optimizer optimizer(named_parameters(model), config.train);
  Step step{.result = run_step(config, data.batches(config.train), model, optimizer, 1),
            .gradients = {}};
  visit_parameters(model, [&](const std::string& name, const Parameter& parameter) {
    step.gradients[name] = parameter.value.grad().clone();
  });
  return step;
}

TEST(UnevenStep, LeavingFillingOutChangesNothing) {
  for (const std::string task : {"parity", "addition", "s5-swaps"})
    for (const std::string interval : {"1", "4", "0"}) {
      SCOPED_TRACE(task + " " + interval);
      Overrides keys = {"data.task=" + task, "model.feedback_interval=" + interval};
      if (task == "addition") keys.insert(keys.end(), {"data.min_length=1", "data.max_length=6"});
      if (task == "s5-swaps") keys.insert(keys.end(), {"data.min_length=2", "data.max_length=9"});
      const auto fused = first_step(keys, true), composed = first_step(keys, false);
      EXPECT_NEAR(fused.result.loss_nats, composed.result.loss_nats, 1e-5);
      EXPECT_EQ(fused.result.tokens, composed.result.tokens);
      for (const auto& [name, slope] : composed.gradients) {
        const auto scale = slope.abs().max().item<double>() + 1e-9;
        EXPECT_LE((fused.gradients.at(name) - slope).abs().max().item<double>(), 3e-5 * scale)
            << name;
      }
    }
}

}  // namespace
}  // namespace rondo
