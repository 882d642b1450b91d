// A plan: what to train under a fitted law and a budget (docs/planning.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "law/fit_record.h"
#include "plan/exponents.h"
#include "plan/rule.h"
#include "plan/scaled_recipe.h"
#include "plan/search.h"
#include "plan/trade_offs.h"

namespace rondo {

/// Most entries of Plan::best.
inline constexpr std::size_t kMostEntries = 256;

/// One pair of loops at its best size.
struct PlanEntry {
  Setting setting;
  Interval loss_interval;            ///< of the fit's bootstrap
  std::optional<double> share_best;  ///< share of the refits in which these loops are best
  std::vector<std::string> outside;  ///< where the setting leaves the fitted range
};

/// A plan and what explains it.
struct Plan {
  std::string law = {}, path = {};
  Limits limits = {};
  double recurrent_share = 0;
  std::string share_from = {};  ///< "option", "fit", "recipe", or "no loops"
  bool recipe_memory = false;   ///< --memory-max was held against a recipe's memory model
  double loops_max = 0;
  std::size_t settings = 0;               ///< pairs (T, B) that were feasible
  std::vector<PlanEntry> best = {};       ///< by loss; the first kMostEntries
  std::vector<std::string> binding = {};  ///< limits that the first of them meets
  std::vector<Flatness> flatness = {};    ///< of the first
  std::optional<Exponents> local = {};
  AsymptoticExponents asymptotic = {};
  std::vector<GrowthRow> growth = {};        ///< with T and B real
  std::optional<LoopCount> loop_split = {};  ///< at --loop-budget, real
  std::optional<Setting> plain = {};
  std::vector<TradeOff> trade_offs = {};
  Rule rule = {};
  std::vector<std::string> warnings = {};
};

/// Plans. With `recipe`, a resolved one, its memory model stands behind --memory-max, and its share
/// of recurrent parameters behind a fit that has none. Throws input errors for contradictory
/// limits, a law with unidentified parameters, or a missing recurrent share or largest T; an error
/// of the work, naming the limit that binds, when nothing is feasible.
Plan make_plan(const FittedLaw& law, const Limits& limits, const Config* recipe = nullptr);

/// The plan with the contract's keys.
Json to_json(const Plan& plan);

/// The plan for people.
std::string plan_text(const Plan& plan);

/// How near a recipe comes to the first setting of a plan.
Json to_json(const PlannedRecipe& recipe, const Plan& plan);
std::string recipe_text(const PlannedRecipe& recipe, const Plan& plan);

}  // namespace rondo
