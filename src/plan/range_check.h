// Where a plan leaves the range that its law was fitted on.
#pragma once

#include <string>
#include <vector>

#include "law/fit_record.h"
#include "plan/problem.h"

namespace rondo {

/// Sentences, one for each of n_total, loops, backward_loops, tokens, flops that lies outside the
/// range of the fitted rows: "tokens 3.2e12 is 8 times beyond the largest fitted, 4e11". Ranges
/// that the fit does not state are not checked. n_total is held against the sums of the ends of
/// n_once and n_rec.
std::vector<std::string> outside_fitted_range(const FittedLaw& law, const Setting& setting);

}  // namespace rondo
