// RMSE, R² and information criteria.
#include "law/quality.h"

#include <cmath>
#include <limits>

#include "base/statistics.h"

namespace rondo {

FitQuality quality_of(std::span<const double> observed, std::span<const double> predicted) {
  const double centre = mean(observed);
  double residual = 0, total = 0;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    residual += (predicted[i] - observed[i]) * (predicted[i] - observed[i]);
    total += (observed[i] - centre) * (observed[i] - centre);
  }
  return {.points = observed.size(),
          .rmse_nats = std::sqrt(residual / static_cast<double>(observed.size())),
          .r2 = total > 0 ? 1 - residual / total : std::numeric_limits<double>::quiet_NaN()};
}

Criteria information_criteria(std::span<const double> log_residuals, std::size_t parameters) {
  const auto rows = static_cast<double>(log_residuals.size());
  const auto fitted = static_cast<double>(parameters);
  double size = 0;
  for (const double residual : log_residuals) size += std::abs(residual);
  // The best Laplace width is the mean absolute residual; its log likelihood follows. A perfect fit
  // has no finite one.
  const double log_likelihood = -rows * (std::log(2 * size / rows) + 1);
  return {.aic = 2 * fitted - 2 * log_likelihood,
          .bic = std::log(rows) * fitted - 2 * log_likelihood};
}

}  // namespace rondo
