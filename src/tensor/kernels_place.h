// QK-norm and RoPE of one head at many positions, in either order, in one pass.
#pragma once

#include "tensor/kernels_rows.h"

namespace rondo::kernel_body {

template <typename Isa>
void place(const float* from, std::int64_t stride, const HeadPlacing& by, float* scale, bool again,
           float* to, std::int64_t rows, std::int64_t width) {
  const auto half = width / 2;
  const bool first = by.norm && by.norm_first;
  for (std::int64_t t = 0; t < rows; ++t) {
    const float* row = from + t * stride;
    const float *cos = by.cos + t * half, *sin = by.sin + t * half;
    float* out = to + t * width;
    const auto norm = [&](const float* x) {
      if (again)
        scale_row<Isa>(x, by.gains, scale[t], out, width);
      else
        rms_norm<Isa, float>(x, by.gains, by.eps, out, scale + t, 1, width);
    };
    if (first) norm(row);
    rotate<Isa>(first ? out : row, out, cos, sin, 1, half, false);
    if (by.norm && !first) norm(out);
  }
}

template <typename Isa>
void place_backward(const float* from, std::int64_t stride, const HeadPlacing& by,
                    const float* scale, float* d_to, float* d_from, float* d_gains, float* scratch,
                    std::int64_t rows, std::int64_t width) {
  const auto half = width / 2;
  for (std::int64_t t = 0; t < rows; ++t) {
    const float* row = from + t * stride;
    const float *cos = by.cos + t * half, *sin = by.sin + t * half;
    float *slope = d_to + t * width, *out = d_from + t * stride;
    if (!by.norm) {
      rotate<Isa>(slope, out, cos, sin, 1, half, true);
    } else if (by.norm_first) {
      rotate<Isa>(slope, slope, cos, sin, 1, half, true);
      rms_norm_backward<Isa>(row, by.gains, scale + t, slope, nullptr, out, d_gains, 1, width);
    } else {
      rotate<Isa>(row, scratch, cos, sin, 1, half, false);
      rms_norm_backward<Isa>(scratch, by.gains, scale + t, slope, nullptr, slope, d_gains, 1,
                             width);
      rotate<Isa>(slope, out, cos, sin, 1, half, true);
    }
  }
}

}  // namespace rondo::kernel_body
