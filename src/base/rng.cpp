// Random streams over the Philox generator of the Random123 library.
#include "base/rng.h"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

namespace rondo {
namespace {

__extension__ using Product = unsigned __int128;

/// Mixes 64 bits (the finaliser of SplitMix64).
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// FNV-1a: stable across compilers and machines, unlike std::hash.
std::uint64_t hash_name(std::string_view name) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return h;
}

double to_unit(std::uint64_t bits) { return (static_cast<double>(bits >> 11) + 0.5) * 0x1.0p-53; }

std::uint64_t join(std::uint32_t high, std::uint32_t low) {
  return (static_cast<std::uint64_t>(high) << 32) | low;
}

struct NormalPair {
  double first, second;
};

NormalPair box_muller(double u, double v) {
  const double radius = std::sqrt(-2.0 * std::log(u));
  const double angle = 2.0 * std::numbers::pi * v;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name, std::uint64_t index)
    : index_(index) {
  const std::uint64_t key = mix(mix(seed) ^ hash_name(name));
  key_ = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
}

std::array<std::uint32_t, 4> RandomStream::block(std::uint64_t position) const {
  const r123::Philox4x32::ctr_type counter = {
      {static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position >> 32),
       static_cast<std::uint32_t>(index_), static_cast<std::uint32_t>(index_ >> 32)}};
  const r123::Philox4x32::key_type key = {{key_[0], key_[1]}};
  const auto words = r123::Philox4x32()(counter, key);
  return {words[0], words[1], words[2], words[3]};
}

std::uint64_t RandomStream::bits(std::uint64_t position) const {
  const auto words = block(position);
  return join(words[0], words[1]);
}

double RandomStream::uniform(std::uint64_t position) const { return to_unit(bits(position)); }

std::uint64_t RandomStream::below(std::uint64_t bound, std::uint64_t position) const {
  return static_cast<std::uint64_t>((static_cast<Product>(bits(position)) * bound) >> 64);
}

double RandomStream::normal(std::uint64_t position) const {
  // A block holds two normals, so that filling an array costs half a block a number.
  const auto words = block(position / 2);
  const auto pair =
      box_muller(to_unit(join(words[0], words[1])), to_unit(join(words[2], words[3])));
  return position % 2 == 0 ? pair.first : pair.second;
}

std::int64_t RandomStream::poisson(double mean, std::uint64_t position) const {
  // Sums of exponential waiting times: exact, with no special cases, and means here are small.
  std::int64_t events = -1;
  for (double time = 0.0; time <= mean; ++events) time -= std::log(uniform(position++));
  return events;
}

void RandomStream::fill_normal(std::span<float> out, std::uint64_t first) const {
  std::size_t i = 0;
  if (first % 2 == 1 && !out.empty()) out[i++] = static_cast<float>(normal(first));
  for (; i + 1 < out.size(); i += 2) {
    const auto words = block((first + i) / 2);
    const auto pair =
        box_muller(to_unit(join(words[0], words[1])), to_unit(join(words[2], words[3])));
    out[i] = static_cast<float>(pair.first);
    out[i + 1] = static_cast<float>(pair.second);
  }
  if (i < out.size()) out[i] = static_cast<float>(normal(first + i));
}

Permutation::Permutation(const RandomStream& stream, std::uint64_t size)
    : size_(size), half_bits_(1) {
  while ((std::uint64_t{1} << (2 * half_bits_)) < size && half_bits_ < 31) ++half_bits_;
  for (std::uint64_t i = 0; i < keys_.size(); ++i) keys_[i] = stream.bits(i);
}

std::uint64_t Permutation::operator()(std::uint64_t i) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  do {
    std::uint64_t left = i >> half_bits_, right = i & mask;
    for (const std::uint64_t key : keys_) {
      const std::uint64_t next = left ^ (mix(right ^ key) & mask);
      left = right;
      right = next;
    }
    i = (left << half_bits_) | right;
  } while (i >= size_);
  return i;
}

}  // namespace rondo
