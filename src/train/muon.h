// Muon: momentum whose direction in each matrix is made orthogonal before it moves the weights.
#pragma once

#include <span>

#include "config/config.h"
#include "tensor/ops.h"

namespace rondo {

/// What an update U Vᵀ of a [rows, columns] matrix is multiplied with besides the learning rate:
///   rms       0.2 √max(rows, columns): its entries then have the root mean square that AdamW's
///             updates tend to, so that AdamW's learning rates carry over (Liu et al., 2502.16982)
///   spectral  √max(1, rows / columns): a step of about unit size from unit input to output
///             (K. Jordan, "Muon", 2024); its learning rates are some thirty times larger
double muon_factor(MuonScale scale, std::int64_t rows, std::int64_t columns);

/// A matrix, its gradient and its momentum, all of one shape.
struct MuonMatrix {
  Tensor value, gradient, momentum;
};

/// One step with decoupled decay. With g the gradient and μ the momentum factor:
///   m ← μ m + (1 − μ) g;   u = μ m + (1 − μ) g (Nesterov);
///   p ← p − lr · decay · p − lr · factor · orthogonalise(u).
void muon_step(std::span<const MuonMatrix> matrices, const TrainConfig& train, double learning_rate,
               Form form);

}  // namespace rondo
