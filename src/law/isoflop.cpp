// Budgets, parabolas, power laws and their resamples.
#include "law/isoflop.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/rng.h"
#include "law/intervals.h"

namespace rondo {
namespace {

const double kUnknown = std::nan("");
constexpr std::size_t kFewestSizes = 3;
constexpr double kSameBudget = 1.02;       // rows within this factor of the smallest share a budget
constexpr std::size_t kFewestRefits = 20;  // for an interval of 95 %

/// A cell's runs: what varies, by its logarithm, and what follows.
struct Runs {
  std::vector<double> log_size, log_tokens, loss, budget;
  [[nodiscard]] std::size_t count() const { return loss.size(); }
};

/// Least squares over 1, p and p² − s p − q with p = x − mean: polynomials that are orthogonal over
/// the points, so that each coefficient is a plain projection and nothing is ill-conditioned.
class Parabola {
 public:
  explicit Parabola(const std::vector<double>& x) : x_(x) {
    const auto n = static_cast<double>(x.size());
    for (const double value : x) mean_ += value / n;
    double second = 0, third = 0;
    for (const double value : x) {
      const double p = value - mean_;
      second += p * p;
      third += p * p * p;
    }
    slope_ = third / second;
    level_ = second / n;
  }

  /// Coefficients for these heights.
  [[nodiscard]] std::array<double, 3> fit(const std::vector<double>& y) const {
    std::array<double, 3> sums{}, norms{};
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const auto basis = at(x_[i]);
      for (std::size_t k = 0; k < 3; ++k) {
        sums[k] += basis[k] * y[i];
        norms[k] += basis[k] * basis[k];
      }
    }
    for (std::size_t k = 0; k < 3; ++k) sums[k] /= norms[k];
    return sums;
  }

  [[nodiscard]] double value(const std::array<double, 3>& coefficients, double x) const {
    const auto basis = at(x);
    return std::inner_product(basis.begin(), basis.end(), coefficients.begin(), 0.0);
  }

  /// Where the slope is 0.
  [[nodiscard]] double vertex(const std::array<double, 3>& coefficients) const {
    return mean_ + 0.5 * slope_ - coefficients[1] / (2 * coefficients[2]);
  }

 private:
  [[nodiscard]] std::array<double, 3> at(double x) const {
    const double p = x - mean_;
    return {1, p, p * p - slope_ * p - level_};
  }

  const std::vector<double>& x_;
  double mean_ = 0, slope_ = 0, level_ = 0;
};

std::size_t distinct(const std::vector<double>& values) {
  return std::set<double>(values.begin(), values.end()).size();
}

/// The curve through these rows of a cell.
IsoFlopCurve curve_of(const Runs& runs, const std::vector<std::size_t>& rows) {
  std::vector<double> x, tokens, loss;
  for (const auto row : rows) {
    x.push_back(runs.log_size[row]);
    tokens.push_back(runs.log_tokens[row]);
    loss.push_back(runs.loss[row]);
  }
  IsoFlopCurve curve;
  curve.rows = rows.size();
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  curve.low = std::exp(*low);
  curve.high = std::exp(*high);
  curve.best = curve.tokens = curve.loss = curve.curvature = kUnknown;
  const auto sizes = distinct(x);
  if (sizes < kFewestSizes) {
    curve.problem =
        fmt::format("{} value{}; a parabola takes {}", sizes, sizes == 1 ? "" : "s", kFewestSizes);
    return curve;
  }
  const Parabola parabola(x);
  const auto coefficients = parabola.fit(loss);
  curve.curvature = 2 * coefficients[2];
  if (!(curve.curvature > 0)) {
    curve.problem = "not curved upwards";
    return curve;
  }
  const double best = parabola.vertex(coefficients);
  curve.best = std::exp(best);
  curve.loss = parabola.value(coefficients, best);
  if (best < *low || best > *high) {
    curve.problem = fmt::format("lowest point {} all runs", best < *low ? "below" : "above");
    return curve;
  }
  curve.tokens = std::exp(parabola.value(parabola.fit(tokens), best));
  return curve;
}

/// ln y over ln budget by least squares; nothing below two budgets.
std::optional<PowerLaw> power_law(const std::vector<double>& budgets,
                                  const std::vector<double>& values) {
  if (budgets.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(budgets.size());
  double x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    x += std::log(budgets[i]) / n;
    y += std::log(values[i]) / n;
  }
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    const double step = std::log(budgets[i]) - x;
    xx += step * step;
    xy += step * (std::log(values[i]) - y);
  }
  return PowerLaw{xy / xx, std::exp(y - xy / xx * x), std::nullopt};
}

struct Frontier {
  std::optional<PowerLaw> best, tokens;
};

Frontier frontier_of(const std::vector<IsoFlopCurve>& curves) {
  std::vector<double> budgets, best, tokens;
  for (const auto& curve : curves) {
    if (!curve.problem.empty()) continue;
    budgets.push_back(curve.budget);
    best.push_back(curve.best);
    tokens.push_back(curve.tokens);
  }
  return {power_law(budgets, best), power_law(budgets, tokens)};
}

Interval interval_of(const std::vector<double>& values) {
  if (values.size() < kFewestRefits) return std::nullopt;
  return central_interval(values);
}

using RowsOfBudget = std::vector<std::vector<std::size_t>>;

/// Resamples the rows within each budget and takes the intervals. A budget whose resample has no
/// lowest point between its sizes is missing from that refit.
void add_intervals(IsoFlopCell& cell, const Runs& runs, const RowsOfBudget& rows,
                   std::uint64_t number, const IsoFlopOptions& options) {
  std::vector<double> best, tokens;
  std::vector<std::vector<double>> best_of_curve(rows.size());
  for (int refit = 0; refit < options.bootstrap; ++refit) {
    const RandomStream random(options.seed, fmt::format("law/isoflop/{}", number),
                              static_cast<std::uint64_t>(refit));
    std::uint64_t position = 0;
    std::vector<IsoFlopCurve> curves;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (!cell.curves[k].problem.empty()) continue;
      std::vector<std::size_t> drawn(rows[k].size());
      for (auto& row : drawn) row = rows[k][random.below(rows[k].size(), position++)];
      curves.push_back(curve_of(runs, drawn));
      curves.back().budget = cell.curves[k].budget;
      if (curves.back().problem.empty()) best_of_curve[k].push_back(curves.back().best);
    }
    const auto frontier = frontier_of(curves);
    if (!frontier.best) continue;
    best.push_back(frontier.best->exponent);
    tokens.push_back(frontier.tokens->exponent);
  }
  cell.refits = best.size();
  if (cell.best) cell.best->interval = interval_of(best);
  if (cell.tokens) cell.tokens->interval = interval_of(tokens);
  for (std::size_t k = 0; k < rows.size(); ++k)
    cell.curves[k].best_interval = interval_of(best_of_curve[k]);
}

/// Rows of a cell by budget, smallest first, with the budgets.
std::pair<RowsOfBudget, std::vector<double>> by_budget(const Runs& runs, double factor) {
  std::vector<std::size_t> order(runs.count());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return runs.budget[a] < runs.budget[b]; });
  RowsOfBudget groups;
  std::vector<double> budgets;
  for (const auto row : order) {
    if (groups.empty() || runs.budget[row] > factor * runs.budget[groups.back().front()])
      groups.emplace_back();
    groups.back().push_back(row);
  }
  for (const auto& group : groups) {
    double log_budget = 0;
    for (const auto row : group)
      log_budget += std::log(runs.budget[row]) / static_cast<double>(group.size());
    // A budget that all rows state is kept as it is stated.
    const double first = runs.budget[group.front()];
    budgets.push_back(runs.budget[group.back()] == first ? first : std::exp(log_budget));
  }
  return {groups, budgets};
}

/// Fills the curves and power laws of a cell; false when no budget has enough sizes.
bool fill(IsoFlopCell& cell, const Runs& runs, double factor, std::uint64_t number,
          const IsoFlopOptions& options) {
  const auto [rows, budgets] = by_budget(runs, factor);
  bool any = false;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    auto curve = curve_of(runs, rows[k]);
    curve.budget = budgets[k];
    any = any || std::isfinite(curve.curvature);
    cell.left_out += curve.problem.empty() ? 0 : 1;
    cell.curves.push_back(std::move(curve));
  }
  if (!any) return false;
  auto frontier = frontier_of(cell.curves);
  cell.best = frontier.best;
  cell.tokens = frontier.tokens;
  if (options.bootstrap > 0) add_intervals(cell, runs, rows, number, options);
  return true;
}

/// The columns that cells are made of.
struct Columns {
  const std::vector<double>&once, &rec, &loops, &backward, &tokens, &loss;
  explicit Columns(const FitTable& table)
      : once(table.numbers("n_once")),
        rec(table.numbers("n_rec")),
        loops(table.numbers("loops")),
        backward(table.numbers("backward_loops")),
        tokens(table.numbers("tokens")),
        loss(table.numbers("loss")) {}
  [[nodiscard]] double total(std::size_t row) const { return once[row] + rec[row]; }
};

std::vector<double> budgets_of(const FitTable& table, const IsoFlopOptions& options,
                               std::string& name) {
  const auto* usual = table.find("budget");
  if (!options.budget_column.empty()) {
    name = options.budget_column;
  } else if (usual != nullptr && !usual->is_words()) {
    name = "budget";
  } else {
    name = "flops";
  }
  auto budgets = table.numbers(name);
  for (std::size_t row = 0; row < budgets.size(); ++row)
    require(std::isfinite(budgets[row]) && budgets[row] > 0,
            "{}: column {}: {} is no budget; expected a number above 0", table.where(row), name,
            budgets[row]);
  return budgets;
}

using Key = std::array<double, 3>;

Runs runs_of(const Columns& columns, const std::vector<double>& budgets,
             const std::vector<std::size_t>& rows, bool over_loops) {
  Runs runs;
  for (const auto row : rows) {
    runs.log_size.push_back(std::log(over_loops ? columns.loops[row] : columns.total(row)));
    runs.log_tokens.push_back(std::log(columns.tokens[row]));
    runs.loss.push_back(columns.loss[row]);
    runs.budget.push_back(budgets[row]);
  }
  return runs;
}

IsoFlopCell cell_of(const Columns& columns, std::size_t row, bool over_loops) {
  IsoFlopCell cell;
  cell.varied = over_loops ? "loops" : "n_total";
  cell.loops = over_loops ? kUnknown : columns.loops[row];
  cell.backward_loops = over_loops ? kUnknown : columns.backward[row];
  cell.n_total = over_loops ? columns.total(row) : kUnknown;
  cell.backward_share = columns.backward[row] / columns.loops[row];
  return cell;
}

}  // namespace

std::string IsoFlopCell::name() const {
  if (varied == "n_total") return fmt::format("T = {:g}, B = {:g}", loops, backward_loops);
  return backward_share == 1 ? fmt::format("N = {:.4g}, B = T", n_total)
                             : fmt::format("N = {:.4g}, B = {:.3g} T", n_total, backward_share);
}

IsoFlop isoflop_frontier(const FitTable& table, const IsoFlopOptions& options) {
  require(options.bootstrap >= 0, "isoflop: {} resamples; expected 0 or more", options.bootstrap);
  const Columns columns(table);
  IsoFlop result;
  const auto budgets = budgets_of(table, options, result.budgets);
  const bool clustered = options.budget_column.empty() && result.budgets == "flops";
  result.bootstrap = options.bootstrap;

  std::uint64_t number = 0;
  for (const bool over_loops : {false, true}) {
    std::map<Key, std::vector<std::size_t>> cells;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      // Ratios that differ by rounding only are one.
      const double share = std::round(1e6 * columns.backward[row] / columns.loops[row]) / 1e6;
      const Key key = over_loops ? Key{columns.once[row], columns.rec[row], share}
                                 : Key{columns.loops[row], columns.backward[row], 0};
      cells[key].push_back(row);
    }
    for (const auto& [key, rows] : cells) {
      auto cell = cell_of(columns, rows.front(), over_loops);
      const auto runs = runs_of(columns, budgets, rows, over_loops);
      if (fill(cell, runs, clustered ? kSameBudget : 1, number++, options))
        result.cells.push_back(std::move(cell));
      else if (!over_loops)
        ++result.cells_without_curve;
    }
  }
  if (clustered) result.budgets = "flops within 2 %";
  return result;
}

}  // namespace rondo
