// The loops of kernels.h that a model needs which goes token by token: one query against its keys,
// and the merge of a state into an input.
#pragma once

#include "tensor/kernels_rows.h"

namespace rondo::kernel_body {

template <typename Isa>
void attend(const float* q, const float* k, const float* v, const std::int64_t* places,
            std::int64_t count, std::int64_t width, float factor, float* p, float* out) {
  float most = -3e38f;
  for (std::int64_t j = 0; j < count; ++j) {
    p[j] = dot<Isa>(q, k + places[j], width) * factor;
    most = most < p[j] ? p[j] : most;
  }
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t j = 0; j < count; ++j) {
    p[j] = exponential<Isa>(p[j] - most);
    sum += p[j];
  }
  const float share = 1.0f / sum;
  for (std::int64_t i = 0; i < width; ++i) out[i] = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    const float weight = p[j] * share;
    const float* row = v + places[j];
    p[j] = weight;
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) out[i] += weight * row[i];
  }
}

template <typename Isa>
void attend_backward(const float* q, const float* k, const float* v, const std::int64_t* places,
                     std::int64_t count, std::int64_t width, float factor, const float* p,
                     const float* d_out, float* d_p, float* d_q, float* d_k, float* d_v) {
  float mean = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    d_p[j] = dot<Isa>(d_out, v + places[j], width);
    mean += p[j] * d_p[j];
  }
  for (std::int64_t i = 0; i < width; ++i) d_q[i] = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    const float weight = p[j], slope = weight * (d_p[j] - mean) * factor;
    const float* key = k + places[j];
    float* d_key = d_k + places[j];
    float* d_value = d_v + places[j];
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) {
      d_q[i] += slope * key[i];
      d_key[i] += slope * q[i];
      d_value[i] += weight * d_out[i];
    }
  }
}

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
