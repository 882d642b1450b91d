// One number over the seeds of a run.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace rondo {

/// Mean, range and sample standard deviation over the seeds that have a value; no deviation below
/// two of them.
struct OverSeeds {
  double mean = 0, low = 0, high = 0;
  std::optional<double> sd;
  std::size_t seeds = 0;
};

/// Over the finite ones of the values; nothing when there are none.
std::optional<OverSeeds> over_seeds(std::span<const double> values);

}  // namespace rondo
