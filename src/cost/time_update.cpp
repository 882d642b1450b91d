// Memory traffic of the optimiser, and Muon's products.
#include "cost/time_update.h"

#include <algorithm>
#include <cmath>

#include "cost/groups.h"

namespace rondo {
namespace {

// Calls for each tensor of the optimiser: node, sum, clear, copy.
constexpr double kUpdateCalls = 6.0;
// Tensors read and written for each value. The norm of the gradients and, in most steps, their
// scaling; AdamW reads weights, gradients and moments and writes all but the gradients; Muon takes
// the average of gradients, a copy, its norm and scaling, the copy that it multiplies, decay, sum.
constexpr double kClipTensors = 3, kAdamwTensors = 7, kMuonTensors = 16;
constexpr int kMuonSteps = 5;
constexpr double kTriangleRows = 128;

}  // namespace

double newton_schulz_flops(double rows, double columns) {
  const double m = std::min(rows, columns), n = std::max(rows, columns);
  const double blocks = std::ceil(m / kTriangleRows), below = (blocks + 1) / (2 * blocks);
  const double gram = below * 2 * m * m * n, apply = 2 * m * m * n, square = below * 2 * m * m * m;
  if (8 * n <= 9 * m) return kMuonSteps * (gram + square + apply);
  // Each step squares, each but the first gathers, each but the last advances by two products.
  return gram + apply + square * (kMuonSteps + 3 * (kMuonSteps - 1));
}

StepSeconds update_seconds(const Config& config, std::int64_t vocab, const MachineSpeed& speed) {
  StepSeconds seconds;
  double moved = 0, tensors = 0;
  for (const auto& tensor : parameter_shapes(config.model, vocab)) {
    const auto values = static_cast<double>(tensor.count());
    const bool muon = config.train.optimizer == OptimizerKind::kMuon && tensor.is_block_matrix();
    moved += values * (kClipTensors + (muon ? kMuonTensors : kAdamwTensors));
    ++tensors;
    if (!muon) continue;
    const auto rows = static_cast<double>(tensor.shape[0]);
    const auto columns = static_cast<double>(tensor.shape[1]);
    const double m = std::min(rows, columns);
    seconds.optimizer +=
        newton_schulz_flops(rows, columns) * product_seconds(speed, m, m, m) / (2 * m * m * m);
  }
  seconds.optimizer += operation_seconds(speed.add, moved, false) / 3.0;
  seconds.overhead = tensors * kUpdateCalls * call_seconds(speed.add, false);
  return seconds;
}

}  // namespace rondo
