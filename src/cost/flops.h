// Floating-point operations per token, forward and backward, with truncated back-propagation.
// Matrix products only: 2 a parameter and use forward, 4 backward (arXiv 2604.21106v3, eq. 6).
#pragma once

#include <cstdint>
#include <string>

#include "cost/loops.h"
#include "cost/parameters.h"

namespace rondo {

/// FLOPs per token. `train` covers the forward and backward pass of one training step.
struct FlopsPerToken {
  double forward = 0;          ///< inference at T loops: matrices, causal attention, head
  double train = 0;            ///< sum of the three below
  double train_matmul = 0;     ///< 6 N_once + 2 (T + 2B) N_rec, the `flops` of laws and metrics;
                               ///< with R read-outs also 6 (R − 1) N_coda
  double train_attention = 0;  ///< 4 H K (S + 1) / 2 a layer and pass, three times with gradient
  double train_head = 0;       ///< 6 V D R
};

/// 6 N_once + 2 (T + 2B) N_rec for real T and B ≤ T.
double train_matmul_flops(double n_once, double n_rec, LoopCount loops);

/// States that a training step reads out, R: the last, or with train.loop_loss all B that are
/// back-propagated.
double read_outs(const TrainConfig& train, LoopCount loops);

/// train_matmul of R read-outs.
double train_matmul_flops(const ParameterCounts& counts, LoopCount loops, double read_outs);

/// FLOPs per token of a resolved model at sequence length `length`. Layers outside the loop count
/// as back-propagated even where truncation without injection leaves them without gradient.
FlopsPerToken flops_per_token(const ModelConfig& model, std::int64_t vocab, std::int64_t length,
                              LoopCount loops, double read_outs = 1);

/// The same for a recipe and the loops of a step, and with its nominal (forward, backward).
FlopsPerToken flops_per_token(const Config& config, LoopCount loops);
FlopsPerToken flops_per_token(const Config& config);

/// Mean over the draws of the recipe's sampler; equals the nominal one for fixed loops.
FlopsPerToken expected_flops_per_token(const Config& config);

/// The formulas and the same with this recipe's nominal numbers in them, as an aligned table.
std::string flops_formula(const Config& config);

}  // namespace rondo
