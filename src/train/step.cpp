// The training step.
#include "train/step.h"

#include <cmath>

#include "eval/loss.h"
#include "model/rlt_training.h"
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

/// Tokens that the loss of a step is the mean over.
double tokens_of_step(const Config& config, const Batch& batch) {
  return static_cast<double>(config.train.batch) * static_cast<double>(batch.length);
}

/// accumulate() for an RLT, segment by segment.
double accumulate_rlt(const Config& config, const Batch& batch, std::int64_t step, const Rlt& model,
                      std::vector<double>* state_norms) {
  const auto targets_BT = make_targets(batch).view({batch.rows, batch.length});
  const double tokens = tokens_of_step(config, batch);
  double squares = 0, values = 0;
  const RltPass pass(model, make_input(batch).tokens_BT, feedback_interval_at(config, step));
  const auto loss = [&](const Tensor& state_BSD, std::int64_t first) {
    squares += std::pow(state_BSD.detach().norm().item<double>(), 2);
    values += static_cast<double>(state_BSD.numel());
    const auto targets_BS = targets_BT.narrow(1, first, state_BSD.size(1));
    return summed_loss_of(model, state_BSD, targets_BS.flatten()) / tokens;
  };
  const double mean = back_propagate(pass, truncation_of(config.train), loss);
  if (state_norms != nullptr) state_norms->push_back(std::sqrt(squares / values));
  return mean * tokens;
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
  back_propagate(nats / tokens_of_step(config, batch));
  return nats.item<double>();
}

}  // namespace

StepResult run_step(const Config& config, const TrainingSet& data, Model& model, AdamW& optimizer,
                    std::int64_t step) {
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
    auto* norms = row == 0 ? &result.state_norms : nullptr;
    nats += std::visit(
        [&](const auto& held) {
          if constexpr (std::is_same_v<decltype(held), const Rlt&>) {
            return accumulate_rlt(config, batch, step, held, norms);
          } else {
            return accumulate(config, batch, first, held, plan, norms);
          }
        },
        model);
  }
  result.loss_nats = nats / (static_cast<double>(train.batch) * static_cast<double>(data.length()));
  result.gradient_norm = optimizer.clip_gradients();
  result.learning_rate = learning_rate_at(train, step);
  result.finite = std::isfinite(result.loss_nats) && std::isfinite(result.gradient_norm);
  if (result.finite) optimizer.step(result.learning_rate, step);
  return result;
}

}  // namespace rondo
