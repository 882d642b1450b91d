// Exponents from re-optimised budgets.
#include "plan/exponents.h"

#include <cmath>

namespace rondo {
namespace {

constexpr double kStep = 0.01;
// Below what differences of two searches can tell.
constexpr double kNoise = 1e-6;

double difference(double above, double below) {
  const double exponent = (std::log(above) - std::log(below)) / (2 * kStep);
  return std::abs(exponent) < kNoise ? 0 : exponent;
}

}  // namespace

std::optional<Exponents> local_exponents(const Problem& problem, const LawFunction& law,
                                         const LoopSpace& space) {
  const double flops = problem.limits.flops;
  const auto below = best_real(problem.with_flops(flops * std::exp(-kStep)), law, space);
  const auto above = best_real(problem.with_flops(flops * std::exp(kStep)), law, space);
  if (!below || !above) return std::nullopt;
  return Exponents{.loops = difference(above->loops.forward, below->loops.forward),
                   .tokens = difference(above->tokens, below->tokens),
                   .parameters = difference(above->n_total, below->n_total)};
}

std::vector<GrowthRow> growth(const Problem& problem, const LawFunction& law,
                              const LoopSpace& space) {
  std::vector<GrowthRow> rows;
  for (const double factor : {0.1, 1.0, 10.0, 100.0}) {
    const double flops = factor * problem.limits.flops;
    if (const auto setting = best_real(problem.with_flops(flops), law, space))
      rows.push_back({flops, *setting});
  }
  return rows;
}

}  // namespace rondo
