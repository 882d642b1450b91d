// Matrices with the singular vectors they had and singular values near 1, by products alone.
#pragma once

#include <span>

#include "tensor/ops.h"

namespace rondo {

/// Steps of orthogonalise() that Muon takes.
inline constexpr int kNewtonSchulzSteps = 5;

/// Replaces each matrix M = U Σ Vᵀ by about U Vᵀ: from X = M / max(‖M‖, 1e-7) in the Frobenius norm
/// `steps` times X ← a X + b (X Xᵀ) X + c (X Xᵀ)² X, with the coefficients that K. Jordan chose for
/// a steep start ("Muon", 2024): singular values above a hundredth come to between 0.68 and 1.14 in
/// five steps, not to 1. Zeros stay zeros.
///
/// The matrices are contiguous and of one number type. Composed: those of one shape in one batched
/// product. Fused (single precision on a CPU): one matrix to a thread; products that are symmetric
/// are computed below the diagonal only, and a matrix that is clearly longer than wide is
/// multiplied once, by the product of its steps' polynomials, which are formed at the shorter size.
void orthogonalise(std::span<Tensor> matrices, int steps, Form form);

}  // namespace rondo
