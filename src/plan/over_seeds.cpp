// Means and spreads.
#include "plan/over_seeds.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/statistics.h"

namespace rondo {

std::optional<OverSeeds> over_seeds(std::span<const double> values) {
  std::vector<double> finite;
  for (const double value : values)
    if (std::isfinite(value)) finite.push_back(value);
  if (finite.empty()) return std::nullopt;
  const auto [low, high] = std::minmax_element(finite.begin(), finite.end());
  OverSeeds over{
      .mean = mean(finite), .low = *low, .high = *high, .sd = {}, .seeds = finite.size()};
  if (finite.size() > 1) over.sd = sample_sd(finite);
  return over;
}

}  // namespace rondo
