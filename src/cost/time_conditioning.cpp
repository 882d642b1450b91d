// The counts follow model/history and model/timestep.
#include "cost/time_conditioning.h"

#include <algorithm>

namespace rondo {
namespace {

/// Tensors of the stream's size that are read or written, and calls, forward and backward.
/// Gradients that meet at a state count as three.
struct Traffic {
  double forward, backward, calls;
};

/// Lags that a loop sees on average: 0, 0, 1, 2, … up to w.
double mean_lags(const ModelConfig& model, double loops) {
  const double looking = std::max(0.0, loops - 2);
  const auto window = static_cast<double>(model.history_window);
  const double rising = std::min(window, looking);
  return (rising * (rising + 1) / 2 + (looking - rising) * window) / std::max(1.0, loops);
}

Traffic history_traffic(const ModelConfig& model, double lags) {
  if (model.history == HistoryForm::kNone || lags == 0) return {};
  if (model.history == HistoryForm::kDense) return {6 * lags, 8 * lags, 4 * lags};
  return {3 + lags, 6 + 5 * lags, 2};
}

/// The sum of a gated branch takes no more than that of another; its way back does.
Traffic timestep_traffic(const ModelConfig& model) {
  const double branches = 2 * static_cast<double>(model.core_layers);
  switch (model.timestep) {
    case TimestepForm::kNone:
      return {};
    case TimestepForm::kLoopGate:
      return {4, 11, 4};
    case TimestepForm::kBranchGate:
      return {0, 3 * branches, 4 + branches};
    case TimestepForm::kAdaln:
      return {0, 3 * branches, 4 + 2 * branches};
  }
  return {};
}

}  // namespace

StepSeconds conditioning_seconds(const ModelConfig& model, const ConditionedLoops& pass,
                                 const MachineSpeed& speed) {
  const auto width = static_cast<double>(model.d_model);
  const double lags = mean_lags(model, pass.loops);
  // A sum of two tensors reads two and writes one.
  const double one_tensor = operation_seconds(speed.add, pass.tokens * width, false) / 3.0;
  StepSeconds seconds;
  for (const auto& traffic : {history_traffic(model, lags), timestep_traffic(model)}) {
    seconds.elementwise +=
        one_tensor * (pass.forward * traffic.forward + pass.backward * traffic.backward);
    seconds.overhead +=
        (pass.forward + pass.backward) * traffic.calls * call_seconds(speed.add, false);
  }
  if (model.history == HistoryForm::kDense)
    seconds.matmul = lags * (pass.forward + 2 * pass.backward) *
                     product_seconds(speed, pass.tokens, width, width);
  return seconds;
}

}  // namespace rondo
