// The loops of kernels.h that condition a recurrence, as templates; see kernels_rows.h.
#pragma once

#include <cstdint>

namespace rondo::kernel_body {

template <typename Isa>
void lean(const float* base, const float* x, const float* const* past, const float* const* factors,
          std::int64_t lags, float* out, std::int64_t rows, std::int64_t width) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t at = i * width;
    const float *from = base + at, *here = x + at, *earlier = past[0] + at, *by = factors[0];
    float* to = out + at;
#pragma omp simd
    for (std::int64_t k = 0; k < width; ++k) to[k] = from[k] + by[k] * (earlier[k] - here[k]);
    for (std::int64_t j = 1; j < lags; ++j) {
      earlier = past[j] + at;
      by = factors[j];
#pragma omp simd
      for (std::int64_t k = 0; k < width; ++k) to[k] += by[k] * (earlier[k] - here[k]);
    }
  }
}

template <typename Isa>
void lean_backward(const float* x, const float* const* past, const float* const* factors,
                   std::int64_t lags, const float* d_out, float* d_x, float* const* d_past,
                   float* const* d_factors, std::int64_t rows, std::int64_t width) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t at = i * width;
    const float *here = x + at, *slope = d_out + at;
    for (std::int64_t j = 0; j < lags; ++j) {
      const float *earlier = past[j] + at, *by = factors[j];
      float* sum = d_factors[j];
#pragma omp simd
      for (std::int64_t k = 0; k < width; ++k) sum[k] += slope[k] * (earlier[k] - here[k]);
      if (d_past[j] != nullptr) {
        float* to = d_past[j] + at;
#pragma omp simd
        for (std::int64_t k = 0; k < width; ++k) to[k] = by[k] * slope[k];
      }
      if (d_x == nullptr) continue;
      float* to = d_x + at;
      if (j == 0) {
#pragma omp simd
        for (std::int64_t k = 0; k < width; ++k) to[k] = -by[k] * slope[k];
      } else {
#pragma omp simd
        for (std::int64_t k = 0; k < width; ++k) to[k] -= by[k] * slope[k];
      }
    }
  }
}

template <typename Isa>
void gated_add(const float* x, const float* branch, const float* gate, float* out,
               std::int64_t rows, std::int64_t width) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const float *from = x + i * width, *more = branch + i * width;
    float* to = out + i * width;
#pragma omp simd
    for (std::int64_t k = 0; k < width; ++k) to[k] = from[k] + gate[k] * more[k];
  }
}

template <typename Isa>
void gated_add_backward(const float* branch, const float* gate, const float* d_out, float* d_branch,
                        float* d_gate, std::int64_t rows, std::int64_t width) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const float *more = branch + i * width, *slope = d_out + i * width;
    float* to = d_branch + i * width;
#pragma omp simd
    for (std::int64_t k = 0; k < width; ++k) {
      to[k] = gate[k] * slope[k];
      d_gate[k] += slope[k] * more[k];
    }
  }
}

}  // namespace rondo::kernel_body
