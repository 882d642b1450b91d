// How much of the loss's gradient reaches each loop.
#pragma once

#include <vector>

#include "diagnose/sequences.h"

namespace rondo {

/// Norms over all sequences, positions and numbers together. The loss is the mean over all
/// predicted positions, and all loops are back-propagated.
struct GradientNorms {
  /// [r + 1]: of the gradient by the state after t loops, which acts through later loops and their
  /// history. That before the first loop counts as such and not as e.
  std::vector<double> state;
  /// [r]: of what the use of the recurrent weights in one loop adds to their gradient; empty unless
  /// asked for.
  std::vector<double> weights;
};

/// Running sums of these. With weights it holds the gradients of all loops at once.
class GradientFlow {
 public:
  GradientFlow(const LoopedLm& model, std::int64_t loops, bool with_weights);

  void add(const ProbeSequence& sequence);
  [[nodiscard]] GradientNorms norms() const;

 private:
  /// The model without prelude and coda whose weights are leaves of their own, as one loop uses it.
  struct LoopCopy {
    LoopedLm model;
    std::vector<Tensor> weights, gradients;
  };

  const LoopedLm& model_;
  std::int64_t loops_;
  std::vector<LoopCopy> copies_;  // one for each loop; without weights none
  std::vector<double> state_;     // summed squares
  double predicted_ = 0;
};

/// Numbers that the gradients by loop take, and their weights again.
double gradient_flow_weights(const LoopedLm& model, std::int64_t loops);

}  // namespace rondo
