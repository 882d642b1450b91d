// The training step.
#include "train/step.h"

#include <cmath>

#include "data/uneven.h"
#include "eval/loss.h"
#include "eval/task_eval.h"
#include "model/rlt_training.h"
#include "tensor/fused.h"
#include "tensor/profile.h"
#include "train/precision.h"
#include "train/schedule.h"

namespace rondo {
namespace {

// Sequences of a step that end at one position: products of the recurrent core have as many rows as
// there are sequences left, and each number of rows is a kernel to be compiled.
constexpr std::int64_t kEndTogether = 16;

double rms(const Tensor& state) {
  return state.detach().norm().item<double>() / std::sqrt(static_cast<double>(state.numel()));
}

std::vector<Batch> read_batches(const StepBatches& batches, std::int64_t step) {
  const ProfileScope scope(Part::kData);
  return batches(step);
}

/// Whether a pass may leave out what fills short sequences up: in the fused form, whole.
bool leaves_out_filling(const Rlt& model, const Batch& batch, const Truncation& truncation) {
  return fused::suits(model.embed.weight.value) && model.form == Form::kFused &&
         !is_cut(truncation, batch.length) && batch.documents.empty();
}

/// accumulate() for an RLT: whole sequences, or segment by segment. The loss asks for states of
/// [1, N, D] or of a segment [B, S, D] of the batch.
double accumulate_rlt(const Config& config, const Batch& padded, double whole, std::int64_t step,
                      const Rlt& model, std::vector<double>* state_norms) {
  const auto truncation = truncation_of(config.train);
  UnevenBatch uneven;
  if (leaves_out_filling(model, padded, truncation)) uneven = without_filling(padded, kEndTogether);
  const bool shorter = uneven.batch.rows == 1 && uneven.batch.length < padded.rows * padded.length;
  if (!shorter) uneven.lengths.clear();
  const Batch& batch = shorter ? uneven.batch : padded;
  const auto targets_BT = make_targets(batch).view({batch.rows, batch.length});
  double squares = 0, values = 0;
  const RltPass pass(model, make_input(batch).tokens_BT, feedback_interval_at(config, step),
                     std::move(uneven.lengths));
  const auto loss = [&](const Tensor& state_BSD, std::int64_t first) {
    squares += std::pow(state_BSD.detach().norm().item<double>(), 2);
    values += static_cast<double>(state_BSD.numel());
    if (!batch.weights.empty())
      return weighted_loss(
                 state_BSD, [&](const Tensor& rows_ND) { return logits_of(model, rows_ND); }, batch,
                 first) /
             whole;
    const auto targets_BS = targets_BT.narrow(1, first, state_BSD.size(1));
    return summed_loss_of(model, state_BSD, targets_BS.flatten()) / whole;
  };
  const double mean = back_propagate(pass, truncation, loss);
  if (state_norms != nullptr) state_norms->push_back(std::sqrt(squares / values));
  return mean * whole;
}

Tensor weighted_loss(const LoopedPass& pass, const Tensor& state_BTD, const Batch& batch) {
  const auto head = [&](const Tensor& read_ND) { return pass.head(read_ND); };
  return rondo::weighted_loss(pass.read_out(state_BTD), head, batch);
}

/// Weight of the loss of each of the last `count` of `loops` loops; they sum to 1.
std::vector<double> loss_weights(LoopLoss kind, std::int64_t loops, std::int64_t count) {
  std::vector<double> weights;
  double sum = 0;
  for (auto loop = loops - count + 1; loop <= loops; ++loop) {
    weights.push_back(kind == LoopLoss::kLinear ? static_cast<double>(loop) : 1.0);
    sum += weights.back();
  }
  for (auto& weight : weights) weight /= sum;
  return weights;
}

/// Forward and backward pass of some rows, whose loss is divided by `whole`; adds to the gradients,
/// returns the loss before the division. With train.loop_loss the losses of the loops that have one
/// are added to `loop_losses`. Loops without gradient have none: their states are constants, and a
/// loss on them would train coda and head alone.
double accumulate(const Config& config, const Batch& batch, double whole, const LoopedLm& model,
                  const LoopPlan& plan, std::vector<double>* state_norms,
                  std::vector<double>& loop_losses) {
  auto input = make_input(batch);
  input.state_seed = config.seed;
  input.sample_keys = batch.keys;
  const LoopedPass pass(model, input);
  const bool every = config.train.loop_loss != LoopLoss::kLast;
  std::vector<Tensor> states;
  const LoopObserver observe = [&](std::int64_t loop, const Tensor& state) {
    if (loop > 0 && state_norms != nullptr) state_norms->push_back(rms(state));
    if (loop > plan.prefix() && every) states.push_back(state);
  };
  const auto last = pass.run(plan, observe);
  const auto loss = [&](const Tensor& state) {
    return batch.weights.empty() ? pass.summed_loss(state, make_targets(batch))
                                 : weighted_loss(pass, state, batch);
  };
  if (!every) {
    const auto nats = loss(last);
    back_propagate(nats / whole);
    return nats.item<double>();
  }
  const auto weights =
      loss_weights(config.train.loop_loss, plan.loops, static_cast<std::int64_t>(states.size()));
  loop_losses.resize(states.size());
  Tensor sum;
  double nats = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const auto one = loss(states[i]);
    nats = one.item<double>();
    loop_losses[i] += nats;
    sum = i == 0 ? one * weights[i] : sum + one * weights[i];
  }
  back_propagate(sum / whole);
  return nats;
}

}  // namespace

StepResult run_step(const Config& config, const StepBatches& batches, Model& model,
                    Optimizer& optimizer, std::int64_t step) {
  StepResult result;
  result.loops = draw_loops(config.loops, config.seed, step);
  const LoopPlan plan{.loops = result.loops.forward,
                      .backward = result.loops.backward,
                      .recompute = config.loops.recompute};
  const FactorScope factors(factors_of(config.train.precision));
  optimizer.clear_gradients();
  const auto micro_batches = read_batches(batches, step);
  double predicted = 0;
  for (const auto& batch : micro_batches) {
    result.tokens += batch.tokens;
    predicted += static_cast<double>(batch.predicted);
  }
  // Weights of targets are shares of the mean already.
  const double whole = micro_batches.front().weights.empty() ? predicted : 1;
  for (const auto& batch : micro_batches) {
    auto* norms = &batch == &micro_batches.front() ? &result.state_norms : nullptr;
    result.loss_nats += std::visit(
        [&](const auto& held) {
          if constexpr (std::is_same_v<decltype(held), const Rlt&>) {
            return accumulate_rlt(config, batch, whole, step, held, norms);
          } else {
            return accumulate(config, batch, whole, held, plan, norms, result.loop_losses);
          }
        },
        model);
  }
  result.loss_nats /= whole;
  for (auto& loss : result.loop_losses) loss /= whole;
  result.gradient_norm = optimizer.clip_gradients();
  result.learning_rate = learning_rate_at(config.train, step);
  // Losses of earlier loops that are not finite make gradients so.
  result.finite = std::isfinite(result.loss_nats) && std::isfinite(result.gradient_norm);
  if (result.finite) optimizer.step(result.learning_rate, step);
  return result;
}

}  // namespace rondo
