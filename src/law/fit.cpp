// A fit from a table to a result: checks, starts, the best of them, and how sure it is.
#include "law/fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/machine.h"
#include "base/statistics.h"
#include "law/identify.h"
#include "law/intervals.h"
#include "law/minimise.h"
#include "law/objective.h"
#include "law/quality.h"
#include "law/read_table.h"

namespace rondo {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// Starts whose end is this near to the best objective found the same minimum.
constexpr double kSameMinimum = 1e-4;
// A perfect fit ends at what rounding leaves.
constexpr double kRounding = 1e-20;

void check_options(const FitOptions& options) {
  require(options.starts >= 1, "--starts {}: expected 1 or more", options.starts);
  require(options.bootstrap == 0 || options.bootstrap >= 20,
          "--bootstrap {}: expected 0 or at least 20 refits: an interval of 95 % takes that many",
          options.bootstrap);
  require(options.bootstrap_starts >= 1, "--bootstrap-starts {}: expected 1 or more",
          options.bootstrap_starts);
  require(std::isfinite(options.delta) && options.delta > 0,
          "--delta {}: expected a number above 0", options.delta);
  require(std::isfinite(options.overestimate_weight) && options.overestimate_weight > 0,
          "--overestimate-weight {}: expected a number above 0", options.overestimate_weight);
}

// Whether some row tells more than the first one does.
bool rows_differ(const LawForm& form, const FitTable& table) {
  auto columns = form.columns();
  columns.emplace_back("loss");
  return std::any_of(columns.begin(), columns.end(), [&](const std::string& name) {
    const auto& values = table.numbers(name);
    return std::any_of(values.begin(), values.end(),
                       [&](double value) { return value != values.front(); });
  });
}

void check_rows(const LawForm& form, const FitTable& table) {
  const auto parameters = form.free_count();
  require(table.rows() >= parameters,
          "law {}: {} row{} for {} parameters; expected at least as many rows as parameters: add "
          "runs, choose a smaller law or hold parameters with --fix",
          form.name, table.rows(), table.rows() == 1 ? "" : "s", parameters);
  require(rows_differ(form, table), "law {}: all {} rows are equal; expected runs that differ",
          form.name, table.rows());
}

// The objective is not finite anywhere: says for which row the formula fails.
[[noreturn]] void fail_not_finite(const LawForm& form, const FitTable& table, Objective& objective,
                                  std::uint64_t seed) {
  const auto residuals = objective.residuals(random_start(form, objective, seed, 0));
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    if (std::isfinite(residuals[i])) continue;
    fail(
        "law {}: its loss is not a positive number for {} at any of the random starts; look for a "
        "division by zero, a root or power of a negative number, or starts that do not fit",
        form.name, table.where(i));
  }
  fail("law {}: its loss has no finite slope at any of the random starts", form.name);
}

std::vector<Minimum> descend(const LawForm& form, const Objective& objective,
                             const FitOptions& options, int threads) {
  std::vector<Minimum> minima(static_cast<std::size_t>(options.starts));
  in_parallel(
      objective, options.starts, threads,
      [&](int index, Objective& own) {
        const auto number = static_cast<std::uint64_t>(index);
        auto start = random_start(form, own, options.seed, number);
        minima[static_cast<std::size_t>(index)] = minimise(own, std::move(start), kMostIterations);
      },
      [&](int done) {
        if (options.progress) options.progress("starts", done, options.starts);
      });
  return minima;
}

// The best point once more, with a fresh estimate of the curvature: what is left of its slope shows
// whether it is one.
Minimum polished(Objective& objective, const Minimum& best) {
  auto again = minimise(objective, best.free, kMostIterations);
  return again.value <= best.value && again.gradient_norm <= best.gradient_norm ? again : best;
}

// Parameters in the table's units.
std::vector<double> in_table_units(const LawForm& form, const Standard& standard,
                                   std::span<const double> parameters) {
  auto result = standard.in_table_units(form, parameters);
  for (std::size_t i = 0; i < result.size(); ++i)
    if (form.parameters[i].fixed) result[i] = *form.parameters[i].fixed;
  return result;
}

void add_bootstrap(FitResult& fit, const Standard& standard, const Objective& objective,
                   const FitTable& rows, const std::vector<double>& best, const FitOptions& options,
                   int threads) {
  const auto& form = fit.form;
  for (const auto& values : bootstrap(form, rows, objective, best, options, threads))
    fit.bootstrap.push_back(in_table_units(form, standard, values));
  fit.bootstrap_by = options.bootstrap_by;
  for (std::size_t i = 0; i < form.parameters.size(); ++i) {
    std::vector<double> values;
    for (const auto& refit : fit.bootstrap) values.push_back(refit[i]);
    const bool known = fit.identified[i] && !form.parameters[i].fixed && values.size() >= 2;
    fit.intervals.push_back(known ? Interval(central_interval(values)) : Interval());
    fit.standard_errors.push_back(known ? sample_sd(values) : kNaN);
  }
  if (fit.bootstrap.size() < static_cast<std::size_t>(options.bootstrap))
    fit.notes.push_back(fmt::format(
        "{} of {} refits had no finite minimum and are left out",
        static_cast<std::size_t>(options.bootstrap) - fit.bootstrap.size(), options.bootstrap));
}

// In the table's units, so that it is the parameter as printed that is held.
void add_profile(FitResult& fit, const FitTable& rows, const FitOptions& options, int threads) {
  const Objective objective(fit.form, rows, Standard{}, options.delta, options.overestimate_weight);
  const auto best = objective.free_numbers(fit.parameters);
  const auto found = profile_intervals(objective, best, options.delta, threads);
  fit.profile_intervals.assign(fit.form.parameters.size(), std::nullopt);
  const auto& places = objective.free_parameters();
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!found[i] || !fit.identified[places[i]]) continue;
    const bool positive = fit.form.parameters[places[i]].positive;
    const auto [low, high] = *found[i];
    fit.profile_intervals[places[i]] =
        positive ? std::pair(std::exp(low), std::exp(high)) : std::pair(low, high);
  }
}

void add_predictions(FitResult& fit, const FitTable& table,
                     const std::vector<std::size_t>& fitted_rows) {
  fit.table = table;
  fit.held_out.assign(table.rows(), true);
  for (const auto row : fitted_rows) fit.held_out[row] = false;
  fit.predicted = predict(fit.form, table, fit.parameters);

  std::vector<double> observed[2], guessed[2], log_residuals;
  const auto& losses = table.numbers("loss");
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const std::size_t part = fit.held_out[i] ? 1 : 0;
    observed[part].push_back(losses[i]);
    guessed[part].push_back(fit.predicted[i]);
    if (part == 0) log_residuals.push_back(std::log(fit.predicted[i] / losses[i]));
  }
  fit.fitted = quality_of(observed[0], guessed[0]);
  if (!observed[1].empty()) fit.holdout = quality_of(observed[1], guessed[1]);
  const auto criteria = information_criteria(log_residuals, fit.form.free_count());
  fit.aic = criteria.aic;
  fit.bic = criteria.bic;
}

void add_ranges(FitResult& fit, const FitTable& rows) {
  for (const auto& column : rows.columns) {
    if (column.is_words()) continue;
    const auto [low, high] = std::minmax_element(column.values.begin(), column.values.end());
    fit.ranges.push_back({column.name, *low, *high});
  }
  std::vector<double> shares;
  const auto& once = rows.numbers("n_once");
  const auto& recurrent = rows.numbers("n_rec");
  for (std::size_t i = 0; i < once.size(); ++i)
    shares.push_back(recurrent[i] / (once[i] + recurrent[i]));
  fit.recurrent_share = median(shares);
}

std::vector<std::size_t> rows_to_fit(const FitTable& table, const std::string& holdout) {
  std::vector<std::size_t> all(table.rows());
  std::iota(all.begin(), all.end(), 0);
  if (holdout.empty()) return all;
  auto split = split_rows(table, holdout);
  require(!split.holds.empty(), "--holdout {}: holds for no row", holdout);
  require(!split.fails.empty(), "--holdout {}: holds for all {} rows; nothing is left to fit",
          holdout, table.rows());
  return split.fails;
}

}  // namespace

double FitResult::largest(std::string_view column) const {
  for (const auto& range : ranges)
    if (range.column == column) return range.high;
  return kNaN;
}

void fix_parameters(LawForm& form, const std::vector<std::pair<std::string, double>>& values) {
  for (const auto& [name, value] : values) {
    auto& parameter = form.parameters[form.parameter(name)];
    require(std::isfinite(value) && (!parameter.positive || value >= 0),
            "--fix {}={}: {} must be {}", name, value, name,
            parameter.positive ? "0 or more" : "finite");
    parameter.fixed = value;
  }
}

FitResult fit_law(const LawForm& form, const FitTable& table, const FitOptions& options) {
  check_options(options);
  const auto chosen = rows_to_fit(table, options.holdout);
  const auto rows = table.select(chosen);
  check_rows(form, rows);
  const int threads = options.threads > 0 ? options.threads : available_cores();

  const auto standard = standard_of(form, rows);
  Objective objective(form, rows, standard, options.delta, options.overestimate_weight);
  const auto minima = descend(form, objective, options, threads);
  const auto lowest = std::min_element(
      minima.begin(), minima.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  if (!std::isfinite(lowest->value)) fail_not_finite(form, rows, objective, options.seed);
  const auto best = polished(objective, *lowest);

  FitResult fit;
  fit.form = form;
  fit.parameters = in_table_units(form, standard, objective.parameters(best.free));
  auto identification = identify(form, rows, objective, best.free);
  fit.identified = std::move(identification.identified);
  fit.statements = std::move(identification.statements);
  fit.objective = best.value;
  fit.starts = options.starts;
  fit.starts_at_best =
      static_cast<int>(std::count_if(minima.begin(), minima.end(), [&](const auto& minimum) {
        return minimum.value <= best.value * (1 + kSameMinimum) + kRounding;
      }));
  fit.stop_reason = best.stop_reason;
  fit.gradient_norm = best.gradient_norm;
  fit.delta = options.delta;
  fit.overestimate_weight = options.overestimate_weight;
  fit.dropped = table.dropped;
  fit.notes = table.notes;
  add_ranges(fit, rows);
  if (options.bootstrap > 0)
    add_bootstrap(fit, standard, objective, rows, best.free, options, threads);
  if (options.profile) add_profile(fit, rows, options, threads);
  add_predictions(fit, table, chosen);
  return fit;
}

}  // namespace rondo
