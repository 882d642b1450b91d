// The loops of kernels.h over independent rows: norms, SwiGLU, rotation.
#pragma once

#include <cmath>

#include "tensor/kernels_math.h"

namespace rondo::kernel_body {

template <typename Isa, typename Out>
void swiglu(const float* gate_up, Out* out, std::int64_t rows, std::int64_t width) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* gate = gate_up + i * 2 * width;
    const float* up = gate + width;
    Out* to = out + i * width;
#pragma omp simd
    for (std::int64_t j = 0; j < width; ++j)
      store<Isa>(to + j, gate[j] * up[j] / (1.0f + exponential<Isa>(-gate[j])));
  }
}

template <typename Isa, typename Out>
void swiglu_backward(const float* gate_up, const float* d_out, float* d_gate_up, Out* out,
                     std::int64_t rows, std::int64_t width) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* gate = gate_up + i * 2 * width;
    const float* up = gate + width;
    const float* slope = d_out + i * width;
    float* d_gate = d_gate_up + i * 2 * width;
    float* d_up = d_gate + width;
    Out* again = out + i * width;
#pragma omp simd
    for (std::int64_t j = 0; j < width; ++j) {
      const float sigmoid = 1.0f / (1.0f + exponential<Isa>(-gate[j]));
      const float silu = gate[j] * sigmoid;
      // Read before it may be overwritten: the slopes may take the place of what they belong to.
      const float old_up = up[j], old_slope = slope[j];
      store<Isa>(again + j, silu * old_up);
      d_up[j] = old_slope * silu;
      d_gate[j] = old_slope * old_up * (sigmoid + silu * (1.0f - sigmoid));
    }
  }
}

/// to = row · by ⊙ gains; `gains` may be null, `to` may be `row`.
template <typename Isa, typename Out>
inline void scale_row(const float* row, const float* gains, float by, Out* to, std::int64_t width) {
  if (gains == nullptr) {
#pragma omp simd
    for (std::int64_t j = 0; j < width; ++j) store<Isa>(to + j, row[j] * by);
  } else {
#pragma omp simd
    for (std::int64_t j = 0; j < width; ++j) store<Isa>(to + j, row[j] * by * gains[j]);
  }
}

template <typename Isa, typename Out>
void rms_norm(const float* x, const float* gains, float eps, Out* out, float* scale,
              std::int64_t rows, std::int64_t width) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* row = x + i * width;
    scale[i] = 1.0f / std::sqrt(dot<Isa>(row, row, width) / static_cast<float>(width) + eps);
    scale_row<Isa>(row, gains, scale[i], out + i * width, width);
  }
}

template <typename Isa>
void rms_norm_backward(const float* x, const float* gains, const float* scale, const float* d_out,
                       const float* base, float* d_x, float* d_gains, std::int64_t rows,
                       std::int64_t width) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* row = x + i * width;
    const float* slope = d_out + i * width;
    const float* below = base == nullptr ? nullptr : base + i * width;
    float* to = d_x + i * width;
    const float r = scale[i];
    float along = 0;  // Σ d_out ⊙ gains ⊙ x
    if (gains == nullptr) {
      along = dot<Isa>(slope, row, width);
    } else {
      along = dot_of_three<Isa>(slope, gains, row, width);
#pragma omp simd
      for (std::int64_t j = 0; j < width; ++j) d_gains[j] += slope[j] * row[j] * r;
    }
    const float back = r * r * r * along / static_cast<float>(width);
    const auto d = [&](std::int64_t j) {
      return r * (gains == nullptr ? slope[j] : slope[j] * gains[j]) - back * row[j];
    };
    if (below == nullptr) {
#pragma omp simd
      for (std::int64_t j = 0; j < width; ++j) to[j] = d(j);
    } else {
#pragma omp simd
      for (std::int64_t j = 0; j < width; ++j) to[j] = below[j] + d(j);
    }
  }
}

template <typename Isa>
void rotate(const float* in, float* out, const float* cos, const float* sin, std::int64_t heads,
            std::int64_t half, bool back) {
  const float sign = back ? -1.0f : 1.0f;
  for (std::int64_t h = 0; h < heads; ++h) {
    const float* first = in + h * 2 * half;
    const float* second = first + half;
    float* to_first = out + h * 2 * half;
    float* to_second = to_first + half;
#pragma omp simd
    for (std::int64_t j = 0; j < half; ++j) {
      const float a = first[j], b = second[j], s = sign * sin[j];
      to_first[j] = a * cos[j] - b * s;
      to_second[j] = b * cos[j] + a * s;
    }
  }
}

}  // namespace rondo::kernel_body
