// Sums over the rows of states, in double precision whatever the states are in: a cosine near 1 in
// single precision is good to 3e-4 of an angle.
#pragma once

#include "tensor/tensor.h"

namespace rondo {

/// Of two states of the same positions, u before and v after.
struct StepSums {
  double update = 0;  ///< Σ ‖v − u‖ / max(‖u‖, 1e-12)
  double last_angle = 0;  ///< arccos(clip(u · v / max(‖u‖ ‖v‖, 1e-12), −1, 1)) / π, last row
};
StepSums compare_rows(const Tensor& u, const Tensor& v);

/// Σ over rows of the unbiased variance over channels.
double summed_variance(const Tensor& x);

/// Σ over rows of ‖v − u‖.
double summed_update(const Tensor& u, const Tensor& v);

/// Σ over rows of ‖(v1 − u1) − (v0 − u0)‖.
double summed_change(const Tensor& u0, const Tensor& v0, const Tensor& u1, const Tensor& v1);

/// Σ of squares.
double summed_squares(const Tensor& x);

}  // namespace rondo
