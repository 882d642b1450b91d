// Rotary frequencies and their table.
#include "nn/rotary.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rondo {
namespace {

// Llama 3.1's scaling (Grattafiori et al., 2024; constants of the released models): wavelengths
// above the old context are stretched eightfold, short ones kept, those between blended.
constexpr double kFactor = 8.0, kLowFactor = 1.0, kHighFactor = 4.0, kOldContext = 8192.0;

double llama3_scaled(double frequency) {
  const double wavelength = 2.0 * std::numbers::pi / frequency;
  if (wavelength < kOldContext / kHighFactor) return frequency;
  if (wavelength > kOldContext / kLowFactor) return frequency / kFactor;
  const double blend = (kOldContext / wavelength - kLowFactor) / (kHighFactor - kLowFactor);
  return (1.0 - blend) * frequency / kFactor + blend * frequency;
}

}  // namespace

std::vector<double> rotary_frequencies(const ModelConfig& config) {
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < config.head_dim / 2; ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(config.head_dim);
    const double frequency = std::pow(config.rope_base, exponent);
    frequencies.push_back(config.rope_scaling == RopeScaling::kLlama3 ? llama3_scaled(frequency)
                                                                      : frequency);
  }
  return frequencies;
}

RotaryTable make_rotary(const ModelConfig& config, std::int64_t length, at::ScalarType type) {
  const auto frequencies = rotary_frequencies(config);
  const auto positions = at::arange(length, at::kDouble);
  const auto angles = at::outer(positions, at::tensor(frequencies, at::kDouble));
  return {.cos = angles.cos().to(type), .sin = angles.sin().to(type)};
}

void grow(RotaryTable& table, const ModelConfig& config, std::int64_t length, at::ScalarType type) {
  if (table.cos.defined() && table.cos.size(0) >= length) return;
  table = make_rotary(config, std::max<std::int64_t>(64, 2 * length), type);
}

}  // namespace rondo
