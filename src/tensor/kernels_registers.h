// Short rows that stay in registers while others go by: their products, sums and outer products.
#pragma once

#include "tensor/kernels_lanes.h"

namespace rondo::kernel_body {

/// Calls work with R, the number of registers that a row of `width` fills, or 0 where it fills none
/// exactly or too many: as a constant, so that a row stays in registers while keys go by.
template <typename Isa, typename Work>
inline void by_registers(std::int64_t width, const Work& work) {
  const auto count = width % Isa::kLanes == 0 ? width / Isa::kLanes : 0;
  if (count == 1) return work(Constant<1>{});
  if (count == 2) return work(Constant<2>{});
  if (count == 4) return work(Constant<4>{});
  if (count == 8) return work(Constant<8>{});
  work(Constant<0>{});
}

/// to_j = row · rows_j, for rows that begin at `places`.
template <typename Isa>
void dots(const float* row, const float* rows, const std::int64_t* places, std::int64_t count,
          std::int64_t width, float* to) {
  by_registers<Isa>(width, [&](auto registers) {
    constexpr int kCount = decltype(registers)::kValue;
    if constexpr (kCount == 0) {
      for (std::int64_t j = 0; j < count; ++j) to[j] = dot<Isa>(row, rows + places[j], width);
    } else {
      Lanes<Isa> own[kCount];
      for (int r = 0; r < kCount; ++r) own[r] = load<Isa>(row + r * Isa::kLanes);
      for (std::int64_t j = 0; j < count; ++j) {
        const float* other = rows + places[j];
        auto product = own[0] * load<Isa>(other);
        for (int r = 1; r < kCount; ++r) product += own[r] * load<Isa>(other + r * Isa::kLanes);
        to[j] = sum<Isa>(product);
      }
    }
  });
}

/// out = Σ_j weights_j rows_j.
template <typename Isa>
void weighted_sum(const float* weights, const float* rows, const std::int64_t* places,
                  std::int64_t count, std::int64_t width, float* out) {
  by_registers<Isa>(width, [&](auto registers) {
    constexpr int kCount = decltype(registers)::kValue;
    if constexpr (kCount == 0) {
      for (std::int64_t i = 0; i < width; ++i) out[i] = 0;
      for (std::int64_t j = 0; j < count; ++j) {
        const float* row = rows + places[j];
#pragma omp simd
        for (std::int64_t i = 0; i < width; ++i) out[i] += weights[j] * row[i];
      }
    } else {
      Lanes<Isa> total[kCount] = {};
      for (std::int64_t j = 0; j < count; ++j)
        for (int r = 0; r < kCount; ++r)
          total[r] += weights[j] * load<Isa>(rows + places[j] + r * Isa::kLanes);
      for (int r = 0; r < kCount; ++r) save<Isa>(out + r * Isa::kLanes, total[r]);
    }
  });
}

/// rows_j += weights_j row.
template <typename Isa>
void add_outer(const float* weights, const float* row, const std::int64_t* places,
               std::int64_t count, std::int64_t width, float* rows) {
  by_registers<Isa>(width, [&](auto registers) {
    constexpr int kCount = decltype(registers)::kValue;
    if constexpr (kCount == 0) {
      for (std::int64_t j = 0; j < count; ++j) {
        float* to = rows + places[j];
#pragma omp simd
        for (std::int64_t i = 0; i < width; ++i) to[i] += weights[j] * row[i];
      }
    } else {
      Lanes<Isa> own[kCount];
      for (int r = 0; r < kCount; ++r) own[r] = load<Isa>(row + r * Isa::kLanes);
      for (std::int64_t j = 0; j < count; ++j) {
        float* to = rows + places[j];
        for (int r = 0; r < kCount; ++r)
          save<Isa>(to + r * Isa::kLanes, load<Isa>(to + r * Isa::kLanes) + weights[j] * own[r]);
      }
    }
  });
}

}  // namespace rondo::kernel_body
