// Seconds that training and inference take on a measured machine, in named terms. Counts of
// products, tokens and tensors follow from the recipe, their speed from measurements
// (cost/machine_speed.h); docs/cost.md has the formulas and how near they come.
#pragma once

#include <cstdint>

#include "config/config.h"
#include "cost/loops.h"
#include "cost/machine_speed.h"

namespace rondo {

/// Seconds of one training step (or one pass), by what they are spent on.
struct StepSeconds {
  double matmul = 0;       ///< the blocks' and a dense injection's matrix products
  double attention = 0;    ///< scores, softmax and weighted values
  double elementwise = 0;  ///< norms, rotary embedding, SwiGLU, sums, copies
  double head = 0;         ///< embedding, logits and loss
  double optimizer = 0;    ///< gradient norm and AdamW
  double overhead = 0;     ///< calls whatever their size, and what blocks take beyond their parts

  [[nodiscard]] double total() const {
    return matmul + attention + elementwise + head + optimizer + overhead;
  }
};

/// One training step with T and B as given (real numbers, as every term is linear in them): all of
/// `train.batch` in micro-batches of `micro_batch` sequences, forward in T loops, backward in the
/// last B, with loops.recompute forward in those once more. `vocab` are the rows of the embedding.
StepSeconds step_seconds(const Config& config, std::int64_t vocab, std::int64_t micro_batch,
                         const MachineSpeed& speed, LoopCount loops);

/// The same at the mean loop counts of the recipe's sampler: the mean step.
StepSeconds step_seconds(const Config& config, std::int64_t vocab, std::int64_t micro_batch,
                         const MachineSpeed& speed);

/// A whole run of train.steps steps.
struct RunSeconds {
  double steps = 0;
  /// Validations on data.validation_tokens tokens (0 = all counts as none, as their number is not
  /// known here), and the depth sweep at the end.
  double validation = 0;

  [[nodiscard]] double total() const { return steps + validation; }
};
RunSeconds run_seconds(const Config& config, std::int64_t vocab, std::int64_t micro_batch,
                       const MachineSpeed& speed);

/// train_matmul FLOPs (6 N_once + 2 (T + 2B) N_rec a token) per second of training, in 1e9: what
/// turns a budget of seconds into the FLOPs that laws and plans count.
double sustained_gflops(const Config& config, std::int64_t vocab, std::int64_t micro_batch,
                        const MachineSpeed& speed);

/// Inference on `rows` sequences of `length` tokens at `loops` loops: one forward pass without
/// gradients. `read_outs` is how many tokens of a sequence get logits (evaluation: all; before
/// generating: the last).
StepSeconds forward_seconds(const Config& config, std::int64_t vocab, std::int64_t rows,
                            std::int64_t length, double loops, std::int64_t read_outs,
                            const MachineSpeed& speed);

/// One generated token of one sequence, `context` tokens being cached. Every weight is read once a
/// loop, and so are the cached keys and values of its layers: bound by memory traffic.
StepSeconds decode_seconds(const Config& config, std::int64_t vocab, double context, double loops,
                           const MachineSpeed& speed);

/// A share of the matrix-product roof, for when nothing else of the machine is measured.
struct Speed {
  double roof_gflops;       ///< 1e9 FLOPs per second
  double efficiency = 0.5;  ///< share of the roof that training reaches, in (0, 1]
};

/// Seconds for `flops` operations. Throws an input error when the speed is not positive.
double seconds_for(double flops, const Speed& speed);

/// Share of the roof that `flops` in `seconds` reached.
double roof_share(double flops, double seconds, double roof_gflops);

}  // namespace rondo
