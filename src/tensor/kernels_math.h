// What the loops of kernels.h are made of, as templates. Each source that includes this is compiled
// for another instruction set and passes a type of its own, so that the linker never takes one's
// code for another's. For the same reason no function of the standard library's that could be
// compiled out of line is called.
#pragma once

#include <bit>
#include <cstdint>

#include "tensor/kernels.h"
#include "tensor/kernels_lanes.h"

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

}  // namespace rondo::kernel_body
