// The operations in plain loops and double precision, written from their formulas: the oracle for
// everything that is vectorised, fused or taken from a library.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace rondo::reference {

using Values = std::vector<double>;

/// x / √(mean x² + eps) ⊙ weight, row by row; `weight` may be empty.
inline Values rms_norm(const Values& x, const Values& weight, double eps, std::size_t width) {
  Values out(x.size());
  for (std::size_t row = 0; row < x.size(); row += width) {
    double squares = 0;
    for (std::size_t i = 0; i < width; ++i) squares += x[row + i] * x[row + i];
    const double scale = 1.0 / std::sqrt(squares / static_cast<double>(width) + eps);
    for (std::size_t i = 0; i < width; ++i)
      out[row + i] = x[row + i] * scale * (weight.empty() ? 1.0 : weight[i]);
  }
  return out;
}

/// Rotates the two halves of each head; x is [T, H, K], positions from 0.
inline Values rotate(const Values& x, std::size_t heads, std::size_t width, double base) {
  Values out(x.size());
  const std::size_t half = width / 2;
  for (std::size_t row = 0; row * width < x.size(); ++row) {
    const double position = static_cast<double>(row / heads);
    for (std::size_t i = 0; i < half; ++i) {
      const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(width);
      const double angle = position * std::pow(base, exponent);
      const double a = x[row * width + i], b = x[row * width + half + i];
      out[row * width + i] = a * std::cos(angle) - b * std::sin(angle);
      out[row * width + half + i] = b * std::cos(angle) + a * std::sin(angle);
    }
  }
  return out;
}

/// Causal attention of one sequence: q [T, H, K], k and v [T, G, K]; out [T, H, K].
inline Values attention(const Values& q, const Values& k, const Values& v, std::size_t length,
                        std::size_t heads, std::size_t groups, std::size_t width) {
  Values out(q.size(), 0.0);
  for (std::size_t h = 0; h < heads; ++h) {
    const std::size_t g = h / (heads / groups);
    for (std::size_t t = 0; t < length; ++t) {
      Values weight(t + 1);
      double sum = 0;
      for (std::size_t j = 0; j <= t; ++j) {
        double score = 0;
        for (std::size_t i = 0; i < width; ++i)
          score += q[(t * heads + h) * width + i] * k[(j * groups + g) * width + i];
        weight[j] = std::exp(score / std::sqrt(static_cast<double>(width)));
        sum += weight[j];
      }
      for (std::size_t j = 0; j <= t; ++j)
        for (std::size_t i = 0; i < width; ++i)
          out[(t * heads + h) * width + i] += weight[j] / sum * v[(j * groups + g) * width + i];
    }
  }
  return out;
}

/// −log softmax(logits)[target] of one row.
inline double cross_entropy(const Values& logits, std::size_t target) {
  double sum = 0;
  for (const double z : logits) sum += std::exp(z - logits[target]);
  return std::log(sum);
}

}  // namespace rondo::reference
