// One optimiser step: loops drawn, micro-batches run forward and backward, weights moved.
#pragma once

#include <vector>

#include "model/model.h"
#include "train/optimizer.h"
#include "train/recurrence_sampler.h"
#include "train/run_data.h"

namespace rondo {

/// What a step measured.
struct StepResult {
  LoopDraw loops{};
  double loss_nats = 0;  ///< mean over the batch's tokens (tasks: examples), before the step
  /// The same of every loop that has a loss, the last one last; empty where it alone has one.
  std::vector<double> loop_losses;
  std::int64_t tokens = 0;   ///< read, filling left out
  double gradient_norm = 0;  ///< before clipping
  double learning_rate = 0;
  std::vector<double> state_norms;  ///< RMS of the state after each loop, first micro-batch; of an
                                    ///< RLT one, over all positions
  /// Whether loss and gradient are finite; if not, the weights have not been moved.
  bool finite = true;
};

/// Runs step `step` (from 1) of the recipe on batches(step). All it depends on besides the weights
/// and moments is (config, step).
StepResult run_step(const Config& config, const StepBatches& batches, Model& model,
                    Optimizer& optimizer, std::int64_t step);

}  // namespace rondo
