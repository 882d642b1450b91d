// Causal attention of one head of a sequence that is too short for products of matrices to pay:
// scores with keys side by side in a register, sums of rows with numbers of a row side by side,
// four rows at once.
#pragma once

#include "tensor/kernels_softmax.h"
#include "tensor/kernels_tiles.h"

namespace rondo::kernel_body {

template <typename Isa>
void attend_short(const ShortHead& head, float* out, SoftmaxRow* rows, float* scratch) {
  const auto padded = padded_length<Isa>(head.length);
  float* keys = scratch;
  float* p = scratch + head.width * padded;
  transpose<Isa>(head.k, head.key_stride, head.length, head.width, keys);
  in_tiles(head.length, [&](std::int64_t first, auto count) {
    constexpr int kRows = decltype(count)::kValue;
    const auto last = first + kRows - 1, seen = padded_length<Isa>(last + 1);
    scores<Isa, kRows>(head.q + first * head.query_stride, head.query_stride, keys, padded,
                       head.width, last, p);
    for (int i = 0; i < kRows; ++i)
      rows[first + i] = softmax<Isa>(p + i * padded, head.factor, first + i + 1, seen);
    combine<Isa, kRows>({p, padded, 1}, head.v, head.value_stride, 0, last + 1, head.width,
                        out + first * head.out_stride, head.out_stride, false);
  });
}

template <typename Isa>
void attend_short_backward(const ShortHead& head, const SoftmaxRow* rows, const float* d_out,
                           float* d_q, float* d_k, float* d_v, std::int64_t d_v_stride, bool add,
                           float* scratch) {
  const auto padded = padded_length<Isa>(head.length);
  float* keys = scratch;
  float* values = keys + head.width * padded;
  float* p = values + head.width * padded;
  float* d_p = p + head.length * padded;
  transpose<Isa>(head.k, head.key_stride, head.length, head.width, keys);
  transpose<Isa>(head.v, head.value_stride, head.length, head.width, values);
  in_tiles(head.length, [&](std::int64_t first, auto count) {
    constexpr int kRows = decltype(count)::kValue;
    const auto last = first + kRows - 1, seen = padded_length<Isa>(last + 1), at = first * padded,
               row = first * head.query_stride;
    scores<Isa, kRows>(head.q + row, head.query_stride, keys, padded, head.width, last, p + at);
    scores<Isa, kRows>(d_out + first * head.out_stride, head.out_stride, values, padded, head.width,
                       last, d_p + at);
    for (int i = 0; i < kRows; ++i) {
      float* own = p + at + i * padded;
      probabilities<Isa>(own, head.factor, rows[first + i], first + i + 1, seen);
      softmax_backward<Isa>(own, d_p + at + i * padded, head.factor, first + i + 1, seen);
    }
    combine<Isa, kRows>({d_p + at, padded, 1}, head.k, head.key_stride, 0, last + 1, head.width,
                        d_q + row, head.query_stride, false);
  });
  // What later queries make of a key. Tiles of keys begin with the first one's own query, which
  // gives the others nothing.
  in_tiles(head.length, [&](std::int64_t first, auto count) {
    constexpr int kRows = decltype(count)::kValue;
    combine<Isa, kRows>({d_p + first, 1, padded}, head.q, head.query_stride, first, head.length,
                        head.width, d_k + first * head.key_stride, head.key_stride, add);
    combine<Isa, kRows>({p + first, 1, padded}, d_out, head.out_stride, first, head.length,
                        head.width, d_v + first * d_v_stride, d_v_stride, add);
  });
}

}  // namespace rondo::kernel_body
