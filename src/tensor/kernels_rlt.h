// The loops of kernels.h that merge a state into an input.
#pragma once

#include "tensor/kernels_math.h"

namespace rondo::kernel_body {

template <typename Isa>
void merge(const float* e, const float* gate_e, const float* gate_r, const float* value_r,
           float scale, float* out, std::int64_t width) {
#pragma omp simd
  for (std::int64_t j = 0; j < width; ++j) {
    const float gate = 1.0f / (1.0f + exponential<Isa>(-(gate_e[j] + gate_r[j])));
    out[j] = e[j] + scale * gate * value_r[j];
  }
}

template <typename Isa>
void merge_backward(const float* gate_e, const float* gate_r, const float* value_r,
                    const float* d_out, float scale, float* d_gate_e, float* d_gate_r,
                    float* d_value_r, std::int64_t width) {
#pragma omp simd
  for (std::int64_t j = 0; j < width; ++j) {
    const float gate = 1.0f / (1.0f + exponential<Isa>(-(gate_e[j] + gate_r[j])));
    const float back = scale * d_out[j];
    const float d_gate = back * value_r[j] * gate * (1.0f - gate);
    d_gate_e[j] = d_gate;
    d_gate_r[j] += d_gate;
    d_value_r[j] += back * gate;
  }
}

}  // namespace rondo::kernel_body
