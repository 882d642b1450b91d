// How sure a fit is of its parameters: refits on resampled rows, and profiles of the objective.
#pragma once

#include <vector>

#include "law/fit.h"
#include "law/minimise.h"

namespace rondo {

/// Parameters of `options.bootstrap` refits, in standardised units. Rows are drawn with
/// replacement, or whole cells of rows where options.bootstrap_by names columns. Each refit starts
/// at `best` and at points between it and random ones.
std::vector<std::vector<double>> bootstrap(const LawForm& form, const FitTable& table,
                                           const Objective& objective,
                                           const std::vector<double>& best,
                                           const FitOptions& options, int threads);

/// 2.5 % and 97.5 % quantiles (linear interpolation between order statistics).
std::pair<double, double> central_interval(std::vector<double> values);

/// 95 % profile intervals of the free numbers `which`, in the objective's units: where the
/// objective, minimised over all others, has risen by what a χ² of one degree allows. The rise is
/// scaled as for M-estimators in general (Ronchetti's τ test): 2 Σ Δρ · E ψ' / E ψ². Nothing where
/// an end is not found within a factor of e^20.
std::vector<Interval> profile_intervals(const Objective& objective, const std::vector<double>& best,
                                        double delta, int threads);

}  // namespace rondo
