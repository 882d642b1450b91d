// How far predictions are from losses.
#pragma once

#include <span>

#include "law/fit.h"

namespace rondo {

/// RMSE in nats and R² of `predicted` against `observed`, both of one length.
FitQuality quality_of(std::span<const double> observed, std::span<const double> predicted);

/// Akaike's and the Bayesian information criterion for `parameters` fitted numbers, with log
/// residuals taken as Laplace distributed, as a Huber loss of small delta does.
struct Criteria {
  double aic, bic;
};
Criteria information_criteria(std::span<const double> log_residuals, std::size_t parameters);

}  // namespace rondo
