// The training step.
#include "train/step.h"

#include <cmath>

#include "eval/loss.h"
#include "tensor/profile.h"
#include "train/precision.h"
#include "train/schedule.h"

namespace rondo {
namespace {

double rms(const Tensor& state) {
  return state.detach().norm().item<double>() / std::sqrt(static_cast<double>(state.numel()));
}

Batch read_batch(const TrainingSet& data, std::uint64_t first, std::int64_t rows) {
  const ProfileScope scope(Part::kData);
  return data.batch(first, rows);
}

/// Forward and backward pass of some rows; adds to the gradients, returns the summed loss.
double accumulate(const Config& config, const Batch& batch, std::uint64_t first_sample,
                  const LoopedLm& model, const LoopPlan& plan, std::vector<double>* state_norms) {
  auto input = make_input(batch);
  input.state_seed = config.seed;
  for (std::int64_t row = 0; row < batch.rows; ++row)
    input.sample_keys.push_back(first_sample + static_cast<std::uint64_t>(row));
  const LoopedPass pass(model, input);
  LoopObserver observe;
  if (state_norms != nullptr)
    observe = [&](std::int64_t loop, const Tensor& state) {
      if (loop > 0) state_norms->push_back(rms(state));
    };
  const auto state = pass.run(plan, observe);
  const auto nats = pass.summed_loss(state, make_targets(batch));
  const double tokens = static_cast<double>(config.train.batch) * static_cast<double>(batch.length);
  back_propagate(nats / tokens);
  return nats.item<double>();
}

}  // namespace

StepResult run_step(const Config& config, const TrainingSet& data, LoopedLm& model,
                    AdamW& optimizer, std::int64_t step) {
  const auto& train = config.train;
  StepResult result;
  result.loops = draw_loops(config.loops, config.seed, step);
  const LoopPlan plan{.loops = result.loops.forward,
                      .backward = result.loops.backward,
                      .recompute = config.loops.recompute};
  const FactorScope factors(factors_of(train.precision));
  optimizer.clear_gradients();
  double nats = 0;
  for (std::int64_t row = 0; row < train.batch; row += train.micro_batch) {
    const auto first = static_cast<std::uint64_t>((step - 1) * train.batch + row);
    const auto batch = read_batch(data, first, train.micro_batch);
    nats += accumulate(config, batch, first, model, plan, row == 0 ? &result.state_norms : nullptr);
  }
  result.loss_nats = nats / (static_cast<double>(train.batch) * static_cast<double>(data.length()));
  result.gradient_norm = optimizer.clip_gradients();
  result.learning_rate = learning_rate_at(train, step);
  result.finite = std::isfinite(result.loss_nats) && std::isfinite(result.gradient_norm);
  if (result.finite) optimizer.step(result.learning_rate, step);
  return result;
}

}  // namespace rondo
