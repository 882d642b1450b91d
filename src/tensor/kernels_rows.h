// The loops of kernels.h over independent rows, as templates. Each source that includes this is
// compiled for another instruction set and passes a type of its own, so that the linker never takes
// one's code for another's. For the same reason no function of the standard library's that could be
// compiled out of line is called.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "tensor/kernels.h"

namespace rondo::kernel_body {

/// e^x to about two units in the last place, in operations that compilers vectorise: x = n ln 2 +
/// r, a polynomial in r (Cephes), and 2^n put together from its bits. Below −87 it is 0 for our
/// purpose.
template <typename Isa>
inline float exponential(float x) {
  x = x < -87.0f ? -87.0f : x;
  x = x > 88.0f ? 88.0f : x;
  constexpr float kRound = 12582912.0f;  // 1.5 · 2^23: adding it leaves the nearest whole number
  const float n = (x * 1.44269504088896341f + kRound) - kRound;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const auto power = (static_cast<std::int32_t>(n) + 127) << 23;
  return p * std::bit_cast<float>(power);
}

/// How a result is stored: as it is, or as bf16, the upper half of a float, rounded to the nearest
/// (ties to even) as processors do. A NaN stays one.
template <typename Isa>
inline void store(float* to, float value) {
  *to = value;
}
template <typename Isa>
inline void store(std::uint16_t* to, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  *to = static_cast<std::uint16_t>(value == value ? rounded : (bits >> 16) | 0x40u);
}

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

template <typename Isa>
void swiglu_backward(const float* gate_up, const float* d_out, float* d_gate_up, std::int64_t rows,
                     std::int64_t width) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* gate = gate_up + i * 2 * width;
    const float* up = gate + width;
    const float* slope = d_out + i * width;
    float* d_gate = d_gate_up + i * 2 * width;
    float* d_up = d_gate + width;
#pragma omp simd
    for (std::int64_t j = 0; j < width; ++j) {
      const float sigmoid = 1.0f / (1.0f + exponential<Isa>(-gate[j]));
      const float silu = gate[j] * sigmoid;
      d_up[j] = slope[j] * silu;
      d_gate[j] = slope[j] * up[j] * (sigmoid + silu * (1.0f - sigmoid));
    }
  }
}

template <typename Isa>
float dot(const float* a, const float* b, std::int64_t count) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t j = 0; j < count; ++j) sum += a[j] * b[j];
  return sum;
}

template <typename Isa, typename Out>
void rms_norm(const float* x, const float* gains, float eps, Out* out, float* scale,
              std::int64_t rows, std::int64_t width) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* row = x + i * width;
    Out* to = out + i * width;
    const float r = 1.0f / std::sqrt(dot<Isa>(row, row, width) / static_cast<float>(width) + eps);
    scale[i] = r;
    if (gains == nullptr) {
#pragma omp simd
      for (std::int64_t j = 0; j < width; ++j) store<Isa>(to + j, row[j] * r);
    } else {
#pragma omp simd
      for (std::int64_t j = 0; j < width; ++j) store<Isa>(to + j, row[j] * r * gains[j]);
    }
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
#pragma omp simd reduction(+ : along)
      for (std::int64_t j = 0; j < width; ++j) along += slope[j] * gains[j] * row[j];
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
