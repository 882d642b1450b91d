// How often the core runs, where gradients begin, and what is computed twice: a function of a step,
// a state and a plan. Training, evaluation and probes all use this one.
#pragma once

#include <functional>

#include "tensor/ops.h"

namespace rondo {

/// The loops of one forward pass.
struct LoopPlan {
  std::int64_t loops = 1;
  /// The last `backward` loops are back-propagated; 0 or more than `loops` means all of them.
  std::int64_t backward = 0;
  /// Keep only the state before each loop and run the loop again in the backward pass.
  bool recompute = false;
  /// Loops of the whole pass, which a rescaled timestep grid goes by; 0 = these are its last.
  std::int64_t of = 0;

  /// Loops that run without gradient, before the others.
  [[nodiscard]] std::int64_t prefix() const {
    return backward == 0 || backward >= loops ? 0 : loops - backward;
  }
};

/// Where a pass stands before a loop.
struct LoopPoint {
  Tensor state;              ///< h_l
  std::int64_t loop = 0;     ///< l, loops run so far
  std::vector<Tensor> past;  ///< h_{l−1}, h_{l−2}, …, latest first, none earlier than h_1
};

/// Moves `point` on to the state after its loop; a loop sees the last `window` states before its
/// own.
void advance(LoopPoint& point, Tensor state, std::size_t window);

/// One loop: the state after it, given where it begins and the tensors that all loops share.
using LoopStep = std::function<Tensor(const LoopPoint& point, const std::vector<Tensor>& shared)>;

/// Called with the first state and its loop (h_0 and 0 in a whole pass) and with the state after
/// each loop.
using LoopObserver = std::function<void(std::int64_t loop, const Tensor& state)>;

/// Runs `plan.loops` loops from `point`; a loop sees the last `window` states before its own.
/// States of the prefix are constants for the gradient, as is what `point` holds when there is a
/// prefix; `shared` is not (the injection of the last loops reaches the prelude through it).
Tensor unroll(const LoopStep& step, LoopPoint point, const std::vector<Tensor>& shared,
              const LoopPlan& plan, std::size_t window, const LoopObserver& observe = {});

}  // namespace rondo
