// The loops of kernels.h for attention of one query to its keys.
#pragma once

#include "tensor/kernels_math.h"
#include "tensor/kernels_registers.h"

namespace rondo::kernel_body {

// Whole registers of scores: those beyond `count`, which nobody asked for, give 0.
template <typename Isa>
inline std::int64_t pad_scores(float* scores, std::int64_t count) {
  const auto padded = (count + kScratchPadding - 1) / kScratchPadding * kScratchPadding;
  for (std::int64_t j = count; j < padded; ++j) scores[j] = -3e38f;
  return padded;
}

template <typename Isa>
SoftmaxRow attend(const float* q, const float* k, const float* v, const std::int64_t* places,
                  std::int64_t count, std::int64_t width, float factor, float* p, float* out) {
  dots<Isa>(q, k, places, count, width, p);
  float most = p[0];
#pragma omp simd reduction(max : most)
  for (std::int64_t j = 0; j < count; ++j) most = most < p[j] ? p[j] : most;
  const auto padded = pad_scores<Isa>(p, count);
#pragma omp simd
  for (std::int64_t j = 0; j < padded; ++j) p[j] = exponential<Isa>((p[j] - most) * factor);
  Lanes<Isa> total{};
  for (std::int64_t j = 0; j < padded; j += Isa::kLanes) total += load<Isa>(p + j);
  const float share = 1.0f / sum<Isa>(total);
#pragma omp simd
  for (std::int64_t j = 0; j < padded; ++j) p[j] *= share;
  weighted_sum<Isa>(p, v, places, count, width, out);
  return {most, share};
}

template <typename Isa>
void attend_backward(const float* q, const float* k, const float* v, const std::int64_t* places,
                     std::int64_t count, std::int64_t width, float factor, SoftmaxRow row,
                     const float* d_out, float* p, float* d_p, float* d_q, float* d_k, float* d_v) {
  dots<Isa>(q, k, places, count, width, p);
  dots<Isa>(d_out, v, places, count, width, d_p);
  const auto padded = pad_scores<Isa>(p, count);
  for (std::int64_t j = count; j < padded; ++j) d_p[j] = 0;
#pragma omp simd
  for (std::int64_t j = 0; j < padded; ++j)
    p[j] = exponential<Isa>((p[j] - row.largest) * factor) * row.share;
  const float mean = dot<Isa>(p, d_p, padded);
#pragma omp simd
  for (std::int64_t j = 0; j < padded; ++j) d_p[j] = p[j] * (d_p[j] - mean) * factor;
  weighted_sum<Isa>(d_p, k, places, count, width, d_q);
  add_outer<Isa>(d_p, q, places, count, width, d_k);
  add_outer<Isa>(p, d_out, places, count, width, d_v);
}

}  // namespace rondo::kernel_body
