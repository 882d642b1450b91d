// The loop over loops.
#include "model/unroll.h"

namespace rondo {
namespace {

/// One loop that keeps what it begins with instead of what it computes on the way. Past states are
/// among its inputs, so that gradients reach them as they do without recomputation.
Tensor recomputed_step(const LoopStep& step, const LoopPoint& point,
                       const std::vector<Tensor>& shared) {
  std::vector<Tensor> inputs = {point.state};
  inputs.insert(inputs.end(), point.past.begin(), point.past.end());
  inputs.insert(inputs.end(), shared.begin(), shared.end());
  const auto loop = point.loop;
  const auto first_shared = static_cast<std::ptrdiff_t>(1 + point.past.size());
  return recomputed(
      [step, loop, first_shared](const std::vector<Tensor>& all) {
        const auto shared_from = all.begin() + first_shared;
        return step({all[0], loop, {all.begin() + 1, shared_from}}, {shared_from, all.end()});
      },
      inputs);
}

}  // namespace

void advance(LoopPoint& point, Tensor state, std::size_t window) {
  // h_0 is no state that a loop has made: it never becomes a past one.
  if (point.loop > 0 && window > 0) {
    point.past.insert(point.past.begin(), std::move(point.state));
    if (point.past.size() > window) point.past.resize(window);
  }
  point.state = std::move(state);
  ++point.loop;
}

Tensor unroll(const LoopStep& step, LoopPoint point, const std::vector<Tensor>& shared,
              const LoopPlan& plan, std::size_t window, const LoopObserver& observe) {
  const auto show = [&] {
    if (observe) observe(point.loop, point.state);
  };
  show();
  std::int64_t done = 0;
  {
    const NoGrad guard;
    for (; done < plan.prefix(); ++done) {
      advance(point, step(point, shared), window);
      show();
    }
  }
  for (; done < plan.loops; ++done) {
    const bool again = plan.recompute && at::GradMode::is_enabled();
    advance(point, again ? recomputed_step(step, point, shared) : step(point, shared), window);
    show();
  }
  return point.state;
}

}  // namespace rondo
