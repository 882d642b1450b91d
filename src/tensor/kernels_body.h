// Cross-entropy, and all the loops of kernels.h as one set.
#pragma once

#include "tensor/kernels_attention.h"
#include "tensor/kernels_conditioning.h"
#include "tensor/kernels_place.h"
#include "tensor/kernels_query.h"
#include "tensor/kernels_rlt.h"
#include "tensor/kernels_rows.h"
#include "tensor/kernels_softmax.h"

namespace rondo::kernel_body {

template <typename Isa>
float cross_entropy(float* z, std::int64_t width, std::int64_t target, float scale, float softcap) {
  // z becomes the shaped logit; its slope in z follows from it: scale (1 − (shaped / c)²).
  if (softcap > 0) {
    const float twice = 2.0f * scale / softcap;
#pragma omp simd
    for (std::int64_t j = 0; j < width; ++j)
      z[j] = softcap - 2.0f * softcap / (1.0f + exponential<Isa>(twice * z[j]));
  } else if (scale != 1.0f) {
#pragma omp simd
    for (std::int64_t j = 0; j < width; ++j) z[j] *= scale;
  }
  float most = z[0];
#pragma omp simd reduction(max : most)
  for (std::int64_t j = 0; j < width; ++j) most = most < z[j] ? z[j] : most;
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t j = 0; j < width; ++j) sum += exponential<Isa>(z[j] - most);
  const float nats = most - z[target] + __builtin_logf(sum);
  const float share = 1.0f / sum, aimed = z[target];
  const float bend = softcap > 0 ? 1.0f / (softcap * softcap) : 0.0f;
#pragma omp simd
  for (std::int64_t j = 0; j < width; ++j)
    z[j] = exponential<Isa>(z[j] - most) * share * scale * (1.0f - z[j] * z[j] * bend);
  z[target] -= scale * (1.0f - aimed * aimed * bend);
  return nats;
}

template <typename Isa>
constexpr Kernels kernels_for(const char* name) {
  return {.name = name,
          .swiglu = swiglu<Isa, float>,
          .swiglu_bf16 = swiglu<Isa, std::uint16_t>,
          .swiglu_backward = swiglu_backward<Isa, float>,
          .swiglu_backward_bf16 = swiglu_backward<Isa, std::uint16_t>,
          .rms_norm = rms_norm<Isa, float>,
          .rms_norm_bf16 = rms_norm<Isa, std::uint16_t>,
          .rms_norm_backward = rms_norm_backward<Isa>,
          .rotate = rotate<Isa>,
          .softmax = softmax<Isa>,
          .probabilities = probabilities<Isa>,
          .softmax_backward = softmax_backward<Isa>,
          .attend = attend<Isa>,
          .attend_backward = attend_backward<Isa>,
          .place = place<Isa>,
          .place_backward = place_backward<Isa>,
          .attend_short = attend_short<Isa>,
          .attend_short_backward = attend_short_backward<Isa>,
          .merge = merge<Isa>,
          .merge_backward = merge_backward<Isa>,
          .lean = lean<Isa>,
          .lean_backward = lean_backward<Isa>,
          .gated_add = gated_add<Isa>,
          .gated_add_backward = gated_add_backward<Isa>,
          .cross_entropy = cross_entropy<Isa>};
}

}  // namespace rondo::kernel_body
