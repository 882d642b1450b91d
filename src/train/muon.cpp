// Muon's step.
#include "train/muon.h"

#include <algorithm>
#include <cmath>

#include "tensor/orthogonal.h"

namespace rondo {

double muon_factor(MuonScale scale, std::int64_t rows, std::int64_t columns) {
  const auto out = static_cast<double>(rows), in = static_cast<double>(columns);
  switch (scale) {
    case MuonScale::kRms:
      return 0.2 * std::sqrt(std::max(out, in));
    case MuonScale::kSpectral:
      return std::sqrt(std::max(1.0, out / in));
  }
  return 1.0;
}

void muon_step(std::span<const MuonMatrix> matrices, const TrainConfig& train, double learning_rate,
               Form form) {
  const NoGrad guard;
  const double momentum = train.muon_momentum;
  std::vector<Tensor> updates;
  for (const auto& [value, gradient, average] : matrices) {
    average.lerp_(gradient, 1.0 - momentum);
    updates.push_back(gradient.lerp(average, momentum).contiguous());
  }
  orthogonalise(updates, kNewtonSchulzSteps, form);
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    auto value = matrices[i].value;
    value.mul_(1.0 - learning_rate * train.weight_decay);
    value.add_(updates[i],
               -learning_rate * muon_factor(train.muon_scale, value.size(0), value.size(1)));
  }
}

}  // namespace rondo
