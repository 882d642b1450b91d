// How the best setting grows with the budget: d ln(optimum) / d ln C, measured on the law itself
// under the limits of the plan, and the closed forms that it tends to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "law/fit_record.h"
#include "plan/search.h"

namespace rondo {

/// Exponents of C; NaN where there is none.
struct Exponents {
  double loops, tokens, parameters;
};

/// Local exponents at the budget of `problem`, with T and B real and at their best: the central
/// difference over C e^±0.01. A limit that binds makes its exponent 0. Nothing when a budget that
/// close has no feasible setting.
std::optional<Exponents> local_exponents(const Problem& problem, const LawFunction& law,
                                         const LoopSpace& space);

/// The best real setting at one multiple of the budget.
struct GrowthRow {
  double flops;
  Setting setting;
};

/// Rows at 0.1, 1, 10 and 100 times the budget; those that are not feasible are left out.
std::vector<GrowthRow> growth(const Problem& problem, const LawFunction& law,
                              const LoopSpace& space);

/// Which limits hold the optimum.
struct Held {
  bool size = false;    ///< n_total is fixed or at its largest
  bool memory = false;  ///< and memory is what holds it
  bool tokens = false;  ///< D is at --tokens-max
};

/// The exponents for C → ∞ as the law's formula gives them, with --loops-max lifted; NaN where
/// there is no closed form. `why` is the regime, or why there is none.
struct AsymptoticExponents {
  Exponents exponents;
  std::string why;
};
AsymptoticExponents asymptotic_exponents(const FittedLaw& law, const Limits& limits, Held held);

/// Real T and B that the joint law puts at a loop budget T + 2B = S: S/3 each when q ≥ 2p, else
/// T = pS/(p + q), B = qS/(2(p + q)). Nothing for other laws.
std::optional<LoopCount> best_loop_split(const FittedLaw& law, double budget);

}  // namespace rondo
