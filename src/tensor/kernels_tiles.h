// Products of a few short rows at once, for matrices too small to call a library for.
#pragma once

#include "tensor/kernels.h"
#include "tensor/kernels_lanes.h"

namespace rondo::kernel_body {

inline constexpr std::int64_t kTile = 4;

/// Keys of a short sequence in whole registers.
template <typename Isa>
inline std::int64_t padded_length(std::int64_t length) {
  return (length + kScratchPadding - 1) / kScratchPadding * kScratchPadding;
}

/// to[c][j] = rows[j][c], 0 beyond the rows.
template <typename Isa>
inline void transpose(const float* rows, std::int64_t stride, std::int64_t count,
                      std::int64_t width, float* to) {
  const auto padded = padded_length<Isa>(count);
  for (std::int64_t c = 0; c < width; ++c) {
    for (std::int64_t j = 0; j < count; ++j) to[c * padded + j] = rows[j * stride + c];
    for (std::int64_t j = count; j < padded; ++j) to[c * padded + j] = 0;
  }
}

/// to[i][j] = rows_i · column_j for `Rows` rows and the `Blocks` registers of columns from
/// `columns` [width, stride] on.
template <typename Isa, int Rows, int Blocks>
inline void scores_tile(const float* rows, std::int64_t row_stride, const float* columns,
                        std::int64_t stride, std::int64_t width, float* to) {
  Lanes<Isa> total[Rows][Blocks] = {};
  for (std::int64_t c = 0; c < width; ++c)
    for (int b = 0; b < Blocks; ++b) {
      const auto column = load<Isa>(columns + c * stride + b * Isa::kLanes);
      for (int i = 0; i < Rows; ++i) total[i][b] += rows[i * row_stride + c] * column;
    }
  for (int i = 0; i < Rows; ++i)
    for (int b = 0; b < Blocks; ++b) save<Isa>(to + i * stride + b * Isa::kLanes, total[i][b]);
}

/// The same for as many columns as the rows up to `last` see.
template <typename Isa, int Rows>
inline void scores(const float* rows, std::int64_t row_stride, const float* columns,
                   std::int64_t stride, std::int64_t width, std::int64_t last, float* to) {
  auto left = last / Isa::kLanes + 1;
  for (std::int64_t at = 0; left > 0; at += 2 * Isa::kLanes, left -= 2) {
    if (left == 1)
      scores_tile<Isa, Rows, 1>(rows, row_stride, columns + at, stride, width, to + at);
    else
      scores_tile<Isa, Rows, 2>(rows, row_stride, columns + at, stride, width, to + at);
  }
}

/// Weights of `Rows` results: result i takes weights[i · step + j · next] of row j.
struct Weights {
  const float* first;
  std::int64_t step, next;
};

/// out_i = Σ_j weights_ij rows_j over j in [begin, end), or added to out_i.
template <typename Isa, int Rows>
inline void combine(const Weights& weights, const float* rows, std::int64_t stride,
                    std::int64_t begin, std::int64_t end, std::int64_t width, float* out,
                    std::int64_t out_stride, bool add) {
  const auto part = [&](std::int64_t from, auto registers) {
    constexpr int kCount = decltype(registers)::kValue;
    Lanes<Isa> total[Rows][kCount] = {};
    for (auto j = begin; j < end; ++j)
      for (int r = 0; r < kCount; ++r) {
        const auto row = load<Isa>(rows + j * stride + from + r * Isa::kLanes);
        for (int i = 0; i < Rows; ++i)
          total[i][r] += weights.first[i * weights.step + j * weights.next] * row;
      }
    for (int i = 0; i < Rows; ++i)
      for (int r = 0; r < kCount; ++r) {
        float* to = out + i * out_stride + from + r * Isa::kLanes;
        save<Isa>(to, add ? load<Isa>(to) + total[i][r] : total[i][r]);
      }
  };
  std::int64_t from = 0;
  for (; from + 2 * Isa::kLanes <= width; from += 2 * Isa::kLanes) part(from, Constant<2>{});
  if (from + Isa::kLanes <= width) part(from, Constant<1>{}), from += Isa::kLanes;
  for (; from < width; ++from)
    for (int i = 0; i < Rows; ++i) {
      float total = add ? out[i * out_stride + from] : 0;
      for (auto j = begin; j < end; ++j)
        total += weights.first[i * weights.step + j * weights.next] * rows[j * stride + from];
      out[i * out_stride + from] = total;
    }
}

/// Calls work(first, constant) for tiles of rows and then for single ones.
template <typename Work>
inline void in_tiles(std::int64_t count, const Work& work) {
  std::int64_t i = 0;
  for (; i + kTile <= count; i += kTile) work(i, Constant<kTile>{});
  for (; i < count; ++i) work(i, Constant<1>{});
}

}  // namespace rondo::kernel_body
