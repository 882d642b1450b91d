// What a fitted law says of budgets: the best size and loss for every pair of loops, over compute
// and at one budget.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/search.h"
#include "report/law_data.h"

namespace rondo {

/// The budget spent as well as it can be at given loops.
struct LawOptimum {
  LoopCount loops;
  std::string name;                       ///< as LawData::cell_name
  bool fitted = false, held_out = false;  ///< whether such rows were fitted, or only held out
  Setting setting;
  Interval loss;  ///< 2.5 to 97.5 % of the refits' loss at this setting
  /// What a loop adds to the recurrent parameters: n_eff = n_once + g n_rec; 1 for a plain model.
  std::optional<double> gain;
  Interval gain_interval;
};

/// Every pair of loops that the law tells apart, by T, then B; best size at data.budget. Up to 16
/// loops all whole numbers, beyond that powers of two and those of the data. Empty without a
/// function or budget.
std::vector<LawOptimum> law_optima(const LawData& data);

/// The best settings over budgets at one pair of loops.
struct LawFrontier {
  LoopCount loops;
  std::string name;
  std::vector<Setting> settings;  ///< by budget
  std::vector<Interval> loss;     ///< of the frontier under each refit; empty unless asked for
};

/// Frontiers of the pairs in the data: the best few of `optima`, the first with intervals, and the
/// plain model. Budgets from the smallest fitted to ten times the largest.
std::vector<LawFrontier> law_frontiers(const LawData& data, const std::vector<LawOptimum>& optima);

/// Middle 95 % of values; nothing below 10 finite ones.
Interval middle_interval(std::vector<double> values);

}  // namespace rondo
