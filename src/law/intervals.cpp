// Bootstrap and profile.
#include "law/intervals.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/rng.h"
#include "base/statistics.h"
#include "law/read_table.h"

namespace rondo {
namespace {

// How often each row is in resample number `index`.
std::vector<double> resample(const std::vector<std::size_t>& cells, std::size_t cell_count,
                             std::uint64_t seed, std::uint64_t index) {
  const RandomStream random(seed, "fit/bootstrap", index);
  std::vector<double> drawn(cell_count, 0);
  for (std::size_t i = 0; i < cell_count; ++i) drawn[random.below(cell_count, i)] += 1;
  std::vector<double> weights(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) weights[i] = drawn[cells[i]];
  return weights;
}

}  // namespace

std::vector<std::vector<double>> bootstrap(const LawForm& form, const FitTable& table,
                                           const Objective& objective,
                                           const std::vector<double>& best,
                                           const FitOptions& options, int threads) {
  std::vector<std::size_t> cells(table.rows());
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = i;
  if (!options.bootstrap_by.empty()) cells = group_rows(table, options.bootstrap_by);
  const std::size_t cell_count = 1 + *std::max_element(cells.begin(), cells.end());
  require(cell_count >= 2, "--bootstrap-by: all rows are one cell; expected columns that differ");

  std::vector<std::vector<double>> found_parameters(static_cast<std::size_t>(options.bootstrap));
  const auto refit = [&](int index, Objective& own) {
    const auto number = static_cast<std::uint64_t>(index);
    own.set_row_weights(resample(cells, cell_count, options.seed, number));
    auto found = minimise(own, best, kMostIterations);
    for (int k = 1; k < options.bootstrap_starts; ++k) {
      auto start = random_start(form, own, options.seed + 1,
                                number * static_cast<std::uint64_t>(options.bootstrap_starts) +
                                    static_cast<std::uint64_t>(k));
      for (std::size_t i = 0; i < start.size(); ++i) start[i] = 0.5 * (start[i] + best[i]);
      auto other = minimise(own, start, kMostIterations);
      if (other.value < found.value) found = std::move(other);
    }
    if (!found.free.empty())
      found_parameters[static_cast<std::size_t>(index)] = own.parameters(found.free);
  };
  in_parallel(objective, options.bootstrap, threads, refit, [&](int done) {
    if (options.progress) options.progress("bootstrap", done, options.bootstrap);
  });
  std::erase_if(found_parameters, [](const auto& values) { return values.empty(); });
  return found_parameters;
}

std::pair<double, double> central_interval(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const auto above = std::min(below + 1, values.size() - 1);
    return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
  };
  return {quantile(0.025), quantile(0.975)};
}

namespace {

// What the objective may rise by: χ²(95 %, 1) / 2 · E ψ² / E ψ', with ψ Huber's slope. Few
// residuals lie inside a small delta, so the density at zero that E ψ' stands for is taken from a
// wider window.
double allowed_rise(const std::vector<double>& residuals, double delta) {
  std::vector<double> sizes;
  double slope_square = 0;
  for (const double residual : residuals) {
    sizes.push_back(std::abs(residual));
    slope_square += std::pow(std::min(std::abs(residual), delta), 2);
  }
  const auto rows = static_cast<double>(residuals.size());
  const double spread = 1.4826 * median(sizes);
  const double window = std::max(delta, 1.06 * spread * std::pow(rows, -0.2));
  const auto inside = static_cast<double>(
      std::count_if(sizes.begin(), sizes.end(), [&](double size) { return size <= window; }));
  const double curvature = delta / window * inside / rows;
  constexpr double kChiSquare = 3.841459;
  return kChiSquare / 2 * (slope_square / rows) / curvature;
}

// Where the profile of one free number crosses `limit`, going from the best fit in one direction.
std::optional<double> crossing(Objective& objective, std::size_t which,
                               const std::vector<double>& best, double direction, double limit) {
  objective.hold(which);
  auto inner = best;
  double step = 0.01;
  const auto profile = [&](double at, std::vector<double> start) {
    start[which] = at;
    return minimise(objective, std::move(start), kMostIterations);
  };
  double outer = best[which];
  for (int i = 0;; ++i) {
    outer = inner[which] + direction * step;
    auto found = profile(outer, inner);
    if (found.free.empty() || found.value > limit) break;
    inner = std::move(found.free);
    step *= 1.6;
    if (std::abs(outer - best[which]) > 20 || i > 60) return std::nullopt;
  }
  for (int i = 0; i < 40 && std::abs(outer - inner[which]) > 1e-6; ++i) {
    const double middle = 0.5 * (outer + inner[which]);
    auto found = profile(middle, inner);
    if (found.free.empty() || found.value > limit) {
      outer = middle;
    } else {
      inner = std::move(found.free);
    }
  }
  return inner[which];
}

}  // namespace

std::vector<Interval> profile_intervals(const Objective& objective, const std::vector<double>& best,
                                        double delta, int threads) {
  Objective at_best = objective;
  double lowest = 0;
  at_best.evaluate(best.data(), &lowest, nullptr);
  const double limit = lowest + allowed_rise(at_best.residuals(best), delta);
  std::vector<std::optional<double>> ends(2 * best.size());
  in_parallel(
      objective, static_cast<int>(ends.size()), threads,
      [&](int index, Objective& own) {
        const auto place = static_cast<std::size_t>(index);
        ends[place] = crossing(own, place / 2, best, place % 2 == 0 ? -1 : 1, limit);
      },
      [](int) {});
  std::vector<Interval> intervals(best.size());
  for (std::size_t i = 0; i < best.size(); ++i)
    if (ends[2 * i] && ends[2 * i + 1]) intervals[i] = std::pair(*ends[2 * i], *ends[2 * i + 1]);
  return intervals;
}

}  // namespace rondo
