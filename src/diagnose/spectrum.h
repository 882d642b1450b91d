// Largest |eigenvalue| of a map's Jacobian, from products with it alone.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tensor/tensor.h"

namespace rondo {

/// When to stop.
struct SpectrumLimits {
  double tolerance = 1e-6;       ///< residual of the eigenvector over |eigenvalue|
  std::int64_t iterations = 96;  ///< products with the Jacobian at most
};

/// Of one Jacobian.
struct Radius {
  double value = 0;
  bool converged = false;
  std::int64_t iterations = 0;
};

/// Of P maps of D numbers at once: `map` takes [P, D] to [P, D] row by row, and x_PD is where their
/// Jacobians are taken. Power iteration that keeps all its vectors (Arnoldi, 1951): the largest
/// eigenvalue of the Jacobian within the space that they span, which a complex pair does not
/// unsettle and which is exact after D steps. The products are those of the transpose, which has
/// the same eigenvalues: exact ones by back-propagation, no differences.
std::vector<Radius> spectral_radii(const std::function<Tensor(const Tensor&)>& map,
                                   const Tensor& x_PD, const SpectrumLimits& limits);

}  // namespace rondo
