// The loops of kernels.h for SwiGLU.
#pragma once

#include "tensor/kernels_math.h"

namespace rondo::kernel_body {

/// Calls block(j) for each whole block of kBlock numbers of a row, then rest(j, count) for what is
/// left: loops of a constant length leave nothing that compilers do number by number.
inline constexpr std::int64_t kBlock = 16;
template <typename Block, typename Rest>
inline void in_blocks(std::int64_t width, const Block& block, const Rest& rest) {
  std::int64_t j = 0;
  for (; j + kBlock <= width; j += kBlock) block(j);
  if (j < width) rest(j, width - j);
}

template <typename Isa, typename Out>
inline void swiglu_block(const float* gate, const float* up, Out* to) {
#pragma omp simd
  for (std::int64_t j = 0; j < kBlock; ++j)
    store<Isa>(to + j, gate[j] * up[j] / (1.0f + exponential<Isa>(-gate[j])));
}

template <typename Isa, typename Out>
void swiglu(const float* gate_up, Out* out, std::int64_t rows, std::int64_t width) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* gate = gate_up + i * 2 * width;
    const float* up = gate + width;
    Out* to = out + i * width;
    in_blocks(
        width, [&](std::int64_t j) { swiglu_block<Isa>(gate + j, up + j, to + j); },
        [&](std::int64_t j, std::int64_t count) {
          float some_gate[kBlock] = {}, some_up[kBlock] = {};
          Out some[kBlock];
          copy<Isa>(some_gate, gate + j, count), copy<Isa>(some_up, up + j, count);
          swiglu_block<Isa>(some_gate, some_up, some);
          copy<Isa>(to + j, some, count);
        });
  }
}

// The slopes may take the place of what they belong to: all is read before anything is written.
template <typename Isa>
inline void swiglu_backward_block(const float* gate, const float* up, const float* slope,
                                  float* d_gate, float* d_up) {
#pragma omp simd
  for (std::int64_t j = 0; j < kBlock; ++j) {
    const float sigmoid = 1.0f / (1.0f + exponential<Isa>(-gate[j]));
    const float silu = gate[j] * sigmoid;
    const float old_up = up[j];
    d_up[j] = slope[j] * silu;
    d_gate[j] = slope[j] * old_up * (sigmoid + silu * (1.0f - sigmoid));
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
    in_blocks(
        width,
        [&](std::int64_t j) {
          swiglu_backward_block<Isa>(gate + j, up + j, slope + j, d_gate + j, d_up + j);
        },
        [&](std::int64_t j, std::int64_t count) {
          float some_gate[kBlock] = {}, some_up[kBlock] = {}, some_slope[kBlock] = {};
          copy<Isa>(some_gate, gate + j, count), copy<Isa>(some_up, up + j, count);
          copy<Isa>(some_slope, slope + j, count);
          swiglu_backward_block<Isa>(some_gate, some_up, some_slope, some_gate, some_up);
          copy<Isa>(d_gate + j, some_gate, count), copy<Isa>(d_up + j, some_up, count);
        });
  }
}

}  // namespace rondo::kernel_body
