// The loop over loops.
#include "model/unroll.h"

namespace rondo {

Tensor unroll(const LoopStep& step, Tensor state, const std::vector<Tensor>& shared,
              const LoopPlan& plan, const LoopObserver& observe) {
  if (observe) observe(0, state);
  std::int64_t loop = 0;
  {
    const NoGrad guard;
    for (; loop < plan.prefix(); ++loop) {
      state = step(state, shared);
      if (observe) observe(loop + 1, state);
    }
  }
  std::vector<Tensor> inputs;
  for (; loop < plan.loops; ++loop) {
    if (plan.recompute && at::GradMode::is_enabled()) {
      inputs.assign(1, state);
      inputs.insert(inputs.end(), shared.begin(), shared.end());
      state = recomputed(
          [step](const std::vector<Tensor>& all) {
            return step(all[0], {all.begin() + 1, all.end()});
          },
          inputs);
    } else {
      state = step(state, shared);
    }
    if (observe) observe(loop + 1, state);
  }
  return state;
}

}  // namespace rondo
