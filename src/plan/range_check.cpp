// Ranges of a fit against a setting.
#include "plan/range_check.h"

#include <cmath>

#include "base/error.h"

namespace rondo {
namespace {

// Rounding of tables and of searches is no extrapolation.
constexpr double kSlackFactor = 1.0001;

void check_range(const char* name, double value, double low, double high,
                 std::vector<std::string>& outside) {
  if (high > 0 && value > high * kSlackFactor)
    outside.push_back(fmt::format("{} {:.4g} is {:.2g} times beyond the largest fitted, {:.4g}",
                                  name, value, value / high, high));
  if (low > 0 && value < low / kSlackFactor)
    outside.push_back(fmt::format("{} {:.4g} is {:.2g} times below the smallest fitted, {:.4g}",
                                  name, value, low / value, low));
}

}  // namespace

std::vector<std::string> outside_fitted_range(const FittedLaw& law, const Setting& setting) {
  std::vector<std::string> outside;
  check_range("n_total", setting.n_total, law.smallest("n_once") + law.smallest("n_rec"),
              law.largest("n_once") + law.largest("n_rec"), outside);
  for (const auto& [name, value] :
       {std::pair{"loops", setting.loops.forward},
        std::pair{"backward_loops", setting.loops.backward}, std::pair{"tokens", setting.tokens},
        std::pair{"flops", setting.flops}})
    check_range(name, value, law.smallest(name), law.largest(name), outside);
  return outside;
}

}  // namespace rondo
