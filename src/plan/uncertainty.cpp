// The plan's settings under every refit.
#include "plan/uncertainty.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace rondo {
namespace {

constexpr std::size_t kFewestRefits = 5;

/// Quantile with linear interpolation between the sorted values.
double quantile(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto above = std::min(below + 1, sorted.size() - 1);
  const double part = position - static_cast<double>(below);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

Interval middle_95(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.size() < kFewestRefits) return std::nullopt;
  std::sort(values.begin(), values.end());
  return std::pair(quantile(values, 0.025), quantile(values, 0.975));
}

/// The setting that is best under `refit`, or the number of settings when none has a finite loss.
std::size_t winner(const Problem& problem, const LawFunction& refit,
                   std::span<const Setting> settings, const std::vector<double>& losses,
                   std::size_t contenders) {
  std::vector<std::size_t> order(settings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto count = static_cast<std::ptrdiff_t>(std::min(contenders, order.size()));
  const auto rank = [&](std::size_t i) { return std::isfinite(losses[i]) ? losses[i] : HUGE_VAL; };
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  std::size_t best = settings.size();
  double least = HUGE_VAL;
  for (std::ptrdiff_t k = 0; k < count; ++k) {
    const std::size_t i = order[static_cast<std::size_t>(k)];
    const auto found = best_size(problem, refit, settings[i].loops, settings[i].n_total);
    if (!found || found->loss_nats >= least) continue;
    least = found->loss_nats;
    best = i;
  }
  return best;
}

}  // namespace

Uncertainty uncertainty(const Problem& problem, const FittedLaw& law,
                        std::span<const Setting> settings, std::size_t contenders) {
  Uncertainty result;
  const std::size_t count = settings.size();
  std::vector<std::vector<double>> by_setting(count);
  std::vector<double> wins(count, 0), losses(count);
  double counted = 0;
  for (const auto& parameters : law.bootstrap) {
    const LawFunction refit(law.form, parameters);
    for (std::size_t i = 0; i < count; ++i) {
      losses[i] = problem.loss(settings[i], refit);
      by_setting[i].push_back(losses[i]);
    }
    const std::size_t best = winner(problem, refit, settings, losses, contenders);
    if (best == count) continue;
    wins[best] += 1;
    counted += 1;
  }
  for (std::size_t i = 0; i < count; ++i) {
    result.loss.push_back(middle_95(std::move(by_setting[i])));
    result.share_best.push_back(counted > 0 ? wins[i] / counted
                                            : std::numeric_limits<double>::quiet_NaN());
  }
  return result;
}

}  // namespace rondo
