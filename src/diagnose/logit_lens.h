// What every loop's state would answer: loss, and how often its answer is that of the last loop.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace rondo {

/// What a head reads, [1, S, D], for logits of some of its rows; see LoopedPass::head().
using Head = std::function<Tensor(const Tensor& normed_BTD)>;

/// Means over all predicted positions (losses) and over all positions (agreement).
struct LensRow {
  double loss_nats = 0;
  double agreement = 0;  ///< share of positions whose most likely token is the last state's
};

/// Running sums over sequences, for one way of reading states out.
class LogitLens {
 public:
  /// `states`: that of no loop, and those after each.
  LogitLens(std::int64_t states, std::int64_t vocab);

  /// Adds the state after `loop` loops of the sequence in hand, as the head reads it.
  void add(std::int64_t loop, const Tensor& normed_BTD, const Head& head, const Tensor& targets_S);
  /// Ends a sequence.
  void end_sequence(const Tensor& targets_S);

  [[nodiscard]] std::vector<LensRow> rows() const;

 private:
  std::int64_t rows_at_once_;
  std::vector<double> nats_, agreed_;
  std::vector<Tensor> answers_;  // int64 [S], of the sequence in hand
  double positions_ = 0, predicted_ = 0;
};

}  // namespace rondo
