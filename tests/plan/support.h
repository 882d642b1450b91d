// A planted joint law, as a fit and as plain arithmetic, and the search by brute force.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "law/fit_record.h"
#include "plan/limits.h"

namespace rondo::test {

inline constexpr double kShare = 0.42;

/// The parameters that the tests plant; q > 2p, and g(2, 2) is about 2.
struct Planted {
  double E = 1.6, A = 150, alpha = 0.312, B = 3000, beta = 0.398;
  double p = 0.237, q = 1.022, G = 3.15, K = 3.0;

  [[nodiscard]] double loss(double n, double t, double b, double d) const {
    const double u = std::pow(t, p) * std::pow(b, q);
    const double g = 1 + G * (u - 1) / (u - 1 + K);
    const double n_eff = (1 - kShare) * n + g * kShare * n;
    return E + A * std::pow(n_eff, -alpha) + B * std::pow(d, -beta);
  }
};

/// A minimal FIT.json of the planted law, and other members of it.
inline std::string joint_json(const Planted& law = {}, const std::string& more = "") {
  return fmt::format(
      R"({{"law": "joint", "parameters": {{"E": {}, "A": {}, "alpha": {}, "B": {}, "beta": {}, )"
      R"("p": {}, "q": {}, "G": {}, "K": {}}}, "recurrent_share": {}, "loops_max": 16{}}})",
      law.E, law.A, law.alpha, law.B, law.beta, law.p, law.q, law.G, law.K, kShare, more);
}
inline FittedLaw joint(const Planted& law = {}, const std::string& more = "") {
  return parse_fit(joint_json(law, more), "fit.json");
}

/// A fit of another law of the catalogue.
inline FittedLaw fit_of(const std::string& law, const std::string& parameters,
                        const std::string& more = R"(, "recurrent_share": 0.42, "loops_max": 16)") {
  return parse_fit(fmt::format(R"({{"law": "{}", "parameters": {{{}}}{}}})", law, parameters, more),
                   "fit.json");
}

/// Message of the error that `action` throws, with its exit status in front.
template <typename Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return fmt::format("{}: {}", error.exit_status(), error.what());
  }
  return "no error";
}

/// Least loss of the planted law at these loops by the formulas alone: over a grid of sizes, then
/// over a finer one around its lowest point.
inline double brute_force(const Planted& law, const Limits& limits, double t, double b) {
  const double per_token = 6 * (1 - kShare) + 2 * (t + 2 * b) * kShare;
  const double inference = 2 * limits.inference_tokens * (1 - kShare + t * kShare);
  double most = limits.flops / (per_token + inference);
  if (limits.parameters_max) most = std::min(most, *limits.parameters_max);
  if (limits.memory_max) most = std::min(most, *limits.memory_max / limits.bytes_per_parameter);
  const auto loss = [&](double log_n) {
    const double n = limits.parameters ? *limits.parameters : std::min(most, std::exp(log_n));
    double d = (limits.flops - inference * n) / (per_token * n);
    if (limits.tokens_max) d = std::min(d, *limits.tokens_max);
    return law.loss(n, t, b, d);
  };
  constexpr int kSteps = 2000;
  double low = 0, high = std::log(most), best = 0;
  for (int pass = 0; pass < 2; ++pass) {
    const double step = (high - low) / kSteps;
    best = low;
    for (int i = 0; i <= kSteps; ++i)
      if (loss(low + step * i) < loss(best)) best = low + step * i;
    low = std::max(0.0, best - step);
    high = std::min(std::log(most), best + step);
  }
  return loss(best);
}

}  // namespace rondo::test
