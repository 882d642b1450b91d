// Small statistics over a handful of runs or timings.
#pragma once

#include <span>

namespace rondo {

/// Mean of the values; NaN when there are none.
double mean(std::span<const double> values);

/// Sample standard deviation (divides by n − 1); NaN below two values, as a spread of one run is
/// unknown and not zero.
double sample_sd(std::span<const double> values);

/// Median (mean of the middle two for an even count); NaN when there are none.
double median(std::span<const double> values);

}  // namespace rondo
