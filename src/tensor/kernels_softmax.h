// The loops of kernels.h that turn scores into probabilities.
#pragma once

#include "tensor/kernels_math.h"

namespace rondo::kernel_body {

template <typename Isa>
SoftmaxRow softmax(float* scores, float factor, std::int64_t seen, std::int64_t width) {
  float most = scores[0];
#pragma omp simd reduction(max : most)
  for (std::int64_t j = 0; j < seen; ++j) most = most < scores[j] ? scores[j] : most;
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t j = 0; j < seen; ++j) {
    scores[j] = exponential<Isa>((scores[j] - most) * factor);
    sum += scores[j];
  }
  const float share = 1.0f / sum;
#pragma omp simd
  for (std::int64_t j = 0; j < seen; ++j) scores[j] *= share;
  for (std::int64_t j = seen; j < width; ++j) scores[j] = 0;
  return {most, share};
}

template <typename Isa>
void probabilities(float* scores, float factor, SoftmaxRow row, std::int64_t seen,
                   std::int64_t width) {
#pragma omp simd
  for (std::int64_t j = 0; j < seen; ++j)
    scores[j] = exponential<Isa>((scores[j] - row.largest) * factor) * row.share;
  for (std::int64_t j = seen; j < width; ++j) scores[j] = 0;
}

template <typename Isa>
void softmax_backward(const float* p, float* d_p, float factor, std::int64_t seen,
                      std::int64_t width) {
  const float mean = dot<Isa>(p, d_p, seen);
#pragma omp simd
  for (std::int64_t j = 0; j < seen; ++j) d_p[j] = p[j] * (d_p[j] - mean) * factor;
  for (std::int64_t j = seen; j < width; ++j) d_p[j] = 0;
}

}  // namespace rondo::kernel_body
