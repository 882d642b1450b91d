// What the bootstrap of a fit says about a plan: how sure the losses are, and which loops win.
#pragma once

#include <span>
#include <vector>

#include "law/fit_record.h"
#include "plan/search.h"

namespace rondo {

/// Settings under the refits of a bootstrap; both lists go with the settings.
struct Uncertainty {
  /// 2.5 to 97.5 % of the loss that the refits give the setting as it is; nothing below 5 refits
  /// with a finite loss.
  std::vector<Interval> loss;
  /// Share of the refits under which these loops are the best of all, each with the size that is
  /// best under that refit; NaN without refits.
  std::vector<double> share_best;
};

/// Throws nothing. Sizes are optimised again for the `contenders` loops that each refit ranks first
/// at the sizes of `settings`.
Uncertainty uncertainty(const Problem& problem, const FittedLaw& law,
                        std::span<const Setting> settings, std::size_t contenders = 4);

}  // namespace rondo
