// The rule behind a plan in one line: what the limits that bind make of a budget (arXiv
// 2610.26030), with the plan's own numbers, and whether they bear it out.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "law/fit_record.h"
#include "plan/exponents.h"
#include "plan/search.h"

namespace rondo {

/// What a rule speaks of.
struct RuleContext {
  const Problem& problem;
  const FittedLaw& law;
  std::span<const Setting> settings;  ///< best first
  Held held;                          ///< limits that bind at the first of them
  std::optional<Setting> plain;       ///< best with T = B = 1
  std::optional<Exponents> local;
  double unlimited_size = 0;  ///< n_total of the best plain setting without limits on size
};

/// A rule. `name` is one of no-loops, loop-budget, fixed-loops, data, parameters (a little short of
/// them), memory (the size is held), free.
struct Rule {
  std::string name = {};
  std::string text = {};
  bool holds = true;  ///< false where the plan's numbers contradict what the rule expects
};
Rule rule_of(const RuleContext& context);

}  // namespace rondo
