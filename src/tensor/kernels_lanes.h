// Registers full of numbers. Loops that end in one number per row (a score, a norm) need them: a
// compiler that may not reorder sums adds the lanes of a vectorised loop one after the other, which
// takes longer than the loop when rows are as short as a head.
#pragma once

#include <cstdint>

namespace rondo::kernel_body {

/// A number that a call is compiled for.
template <int Value>
struct Constant {
  static constexpr int kValue = Value;
};

template <std::int64_t Count>
struct LanesOf {
  using Type [[gnu::vector_size(4 * Count)]] = float;
};

/// As many numbers as a register of the instruction set holds.
template <typename Isa>
using Lanes = typename LanesOf<Isa::kLanes>::Type;

template <typename Isa>
inline Lanes<Isa> load(const float* from) {
  Lanes<Isa> x;
  __builtin_memcpy(&x, from, sizeof x);
  return x;
}

template <typename Isa>
inline void save(float* to, Lanes<Isa> x) {
  __builtin_memcpy(to, &x, sizeof x);
}

/// Σ of the lanes, halves first.
template <typename Isa, std::int64_t Count = Isa::kLanes>
inline float sum(typename LanesOf<Count>::Type x) {
  if constexpr (Count == 16) {
    return sum<Isa, 8>(__builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
                       __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15));
  } else if constexpr (Count == 8) {
    return sum<Isa, 4>(__builtin_shufflevector(x, x, 0, 1, 2, 3) +
                       __builtin_shufflevector(x, x, 4, 5, 6, 7));
  } else {
    const auto y = x + __builtin_shufflevector(x, x, 2, 3, 0, 1);
    return y[0] + y[1];
  }
}

/// Σ_j of products of a row of `count` numbers: lanes(j) gives a register of them, one(j) a single
/// one.
template <typename Isa, typename Some, typename One>
inline float sum_along(std::int64_t count, const Some& lanes, const One& one) {
  constexpr std::int64_t kStep = Isa::kLanes;
  Lanes<Isa> even{}, odd{};
  std::int64_t j = 0;
  for (; j + 2 * kStep <= count; j += 2 * kStep) even += lanes(j), odd += lanes(j + kStep);
  for (; j + kStep <= count; j += kStep) even += lanes(j);
  float total = sum<Isa>(even + odd);
  for (; j < count; ++j) total += one(j);
  return total;
}

template <typename Isa>
float dot(const float* a, const float* b, std::int64_t count) {
  return sum_along<Isa>(
      count, [&](std::int64_t j) { return load<Isa>(a + j) * load<Isa>(b + j); },
      [&](std::int64_t j) { return a[j] * b[j]; });
}

template <typename Isa>
float dot_of_three(const float* a, const float* b, const float* c, std::int64_t count) {
  return sum_along<Isa>(
      count, [&](std::int64_t j) { return load<Isa>(a + j) * load<Isa>(b + j) * load<Isa>(c + j); },
      [&](std::int64_t j) { return a[j] * b[j] * c[j]; });
}

}  // namespace rondo::kernel_body
