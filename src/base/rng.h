// Counter-based random streams: a number depends on (seed, name, index, position) and on nothing
// that ran before it, so no generator state is ever saved and any thread can draw any number.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace rondo {

/// One stream of random numbers. Streams of different names or indices are independent.
/// Generator: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
class RandomStream {
 public:
  /// `name` says what the numbers are for ("init", "loops"), `index` which one of its kind (a step,
  /// an epoch, a sample).
  RandomStream(std::uint64_t seed, std::string_view name, std::uint64_t index = 0);

  /// Four 32-bit words at a position of the stream.
  [[nodiscard]] std::array<std::uint32_t, 4> block(std::uint64_t position) const;

  /// 64 random bits at a position.
  [[nodiscard]] std::uint64_t bits(std::uint64_t position) const;

  /// Uniform in (0, 1), 53 bits.
  [[nodiscard]] double uniform(std::uint64_t position) const;

  /// Uniform whole number in [0, bound), bound > 0, without bias worth speaking of (64-bit
  /// multiply).
  [[nodiscard]] std::uint64_t below(std::uint64_t bound, std::uint64_t position) const;

  /// Standard normal number at a position (Box-Muller).
  [[nodiscard]] double normal(std::uint64_t position) const;

  /// Poisson draw of the given mean (≥ 0), from the uniforms at `position` onwards.
  [[nodiscard]] std::int64_t poisson(double mean, std::uint64_t position) const;

  /// Fills `out` with standard normals; out[i] depends on `first + i` only.
  void fill_normal(std::span<float> out, std::uint64_t first = 0) const;

 private:
  std::array<std::uint32_t, 2> key_;
  std::uint64_t index_;
};

/// A pseudo-random permutation of 0 … size − 1 that is evaluated one element at a time: shuffling
/// without a table. Four rounds of a Feistel network, walked until the value falls inside.
class Permutation {
 public:
  /// Throws nothing; `size` ≥ 1.
  Permutation(const RandomStream& stream, std::uint64_t size);

  [[nodiscard]] std::uint64_t operator()(std::uint64_t i) const;
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  std::array<std::uint64_t, 4> keys_;
  std::uint64_t size_;
  unsigned half_bits_;
};

}  // namespace rondo
