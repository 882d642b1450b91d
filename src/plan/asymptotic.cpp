// Closed forms for large budgets (docs/planning.md derives them). With 1 − (g − 1)/G ~ K/u for
// large u = T^p B^q, N fixed and T + 2B = s the loss is a s^−(p+q) + b (s/C)^beta up to constants,
// and its minimum has s ~ C^(beta / (beta + p + q)). The other laws are treated in the same way.
#include <cmath>
#include <limits>

#include "base/error.h"
#include "plan/exponents.h"

namespace rondo {
namespace {

constexpr double kNoExponent = std::numeric_limits<double>::quiet_NaN();

AsymptoticExponents none(std::string why) {
  return {{kNoExponent, kNoExponent, kNoExponent}, std::move(why)};
}

/// The power w of C at fixed size: the gain from loops goes as s^−w, and is balanced against the
/// loss of tokens s^beta. NaN where it is no power.
struct Gain {
  double power = kNoExponent;
  std::string what;
};

Gain gain_of_loops(const FittedLaw& law, const Limits& limits) {
  const auto value = [&](const char* name) { return law.parameters[law.form.parameter(name)]; };
  const std::string& name = law.form.name;
  if (name == "joint" || name == "joint-k1") {
    const bool backward_fixed = limits.backward_loops && *limits.backward_loops > 0;
    if (backward_fixed) return {value("p"), "beta / (beta + p) with B fixed"};
    return {value("p") + value("q"), "beta / (beta + p + q)"};
  }
  if (name == "iso-depth") return {value("alpha") * value("phi"), "beta / (beta + alpha phi)"};
  if (name == "parcae") return {value("alpha"), "beta / (beta + alpha)"};
  return {};
}

bool is_known(const std::string& name) {
  return name == "chinchilla" || name == "joint" || name == "joint-k1" || name == "iso-depth" ||
         name == "bounded" || name == "parcae";
}

AsymptoticExponents at_fixed_size(const FittedLaw& law, const Limits& limits, Held held,
                                  double beta) {
  const bool loops_fixed = limits.loops || limits.loop_budget || !law.form.uses("loops");
  if (held.tokens) {
    if (loops_fixed)
      return {{0, 0, 0},
              "size, tokens and loops are at their limits: a larger budget buys nothing"};
    return {{1, 0, 0}, "size and tokens are at their limits: the rest goes into loops"};
  }
  if (loops_fixed) return {{0, 1, 0}, "size and loops stay: every FLOP buys tokens"};
  if (law.form.name == "bounded")
    return {{0, 1, 0}, "size is held, and loops grow as the logarithm of C: T ~ k2 beta ln C"};
  const auto gain = gain_of_loops(law, limits);
  if (!(gain.power > 0))
    return none("in this fit more loops do not lower the loss, so T does not grow");
  return {{beta / (beta + gain.power), gain.power / (beta + gain.power), 0},
          fmt::format("size is held: loops go as C to the {}", gain.what)};
}

}  // namespace

AsymptoticExponents asymptotic_exponents(const FittedLaw& law, const Limits& limits, Held held) {
  const std::string& name = law.form.name;
  if (name == "data-constrained")
    return none("repeated tokens and excess parameters saturate: there is no power law");
  if (!is_known(name)) return none(fmt::format("no closed form is known for the law {}", name));
  const auto value = [&](const char* key) { return law.parameters[law.form.parameter(key)]; };
  const double alpha = value("alpha"), beta = value("beta");
  if (held.size) return at_fixed_size(law, limits, held, beta);
  if (held.tokens)
    return {{0, 0, 1}, "tokens are at their limit: the best T and B do not depend on C, size does"};
  return {{0, alpha / (alpha + beta), beta / (alpha + beta)},
          "size is free: the best T and B do not depend on C; parameters go as C to the "
          "beta / (alpha + beta)"};
}

std::optional<LoopCount> best_loop_split(const FittedLaw& law, double budget) {
  if (law.form.name != "joint" && law.form.name != "joint-k1") return std::nullopt;
  const double p = law.parameters[law.form.parameter("p")];
  const double q = law.parameters[law.form.parameter("q")];
  if (!(p > 0) || !(q > 0)) return std::nullopt;
  if (q >= 2 * p) return LoopCount{budget / 3, budget / 3};
  return LoopCount{p * budget / (p + q), q * budget / (2 * (p + q))};
}

}  // namespace rondo
