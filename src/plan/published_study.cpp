// Helpers of the studies.
#include "plan/published_study.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/statistics.h"
#include "cost/flops.h"
#include "law/column_names.h"
#include "law/csv.h"
#include "law/intervals.h"
#include "law/objective.h"

namespace rondo {

FitTable Study::read(const std::string& file, const ReadOptions& options) const {
  const fs::path path = data_ / file;
  return read_tables({&path, 1}, options);
}

RawTable Study::read_raw(const std::string& file) const {
  const auto path = data_ / file;
  return read_csv(read_file(path), path.string());
}

FitOptions Study::fit_options(int bootstrap, std::vector<std::string> cells) const {
  return {.starts = options_.starts,
          .seed = options_.seed,
          .threads = options_.threads,
          .bootstrap = bootstrap,
          .bootstrap_by = std::move(cells),
          .progress = [this](std::string_view what, int done, int of) {
            if (options_.progress)
              options_.progress(fmt::format("{}: {} {} of {}", name_, what, done, of));
          }};
}

FitResult Study::fit(const LawForm& form, const FitTable& table, const FitOptions& options) const {
  if (options_.progress)
    options_.progress(fmt::format("{}: law {}, {} rows", name_, form.name, table.rows()));
  return fit_law(form, table, options);
}

void Study::about(std::string law, std::size_t rows) {
  law_ = std::move(law);
  law_rows_ = rows;
}

void Study::found(std::string parameter, double value, Interval interval, std::string note) {
  rows_.push_back({.study = name_,
                   .rows = law_rows_,
                   .law = law_,
                   .parameter = std::move(parameter),
                   .published = {},
                   .refitted = value,
                   .interval = interval,
                   .tolerance = {},
                   .note = std::move(note)});
}

void Study::compare(const Known& known, double value, Interval interval, std::string note) {
  found(known.parameter, value, interval, std::move(note));
  rows_.back().published = known.value;
  if (!std::isnan(known.tolerance)) rows_.back().tolerance = known.tolerance;
}

void Study::compare(const FitResult& fit, std::span<const Known> known, const std::string& note) {
  about(fit);
  for (const auto& one : known) {
    const auto at = fit.form.parameter(one.parameter);
    const bool determined = fit.identified[at];
    compare(one, determined ? fit.parameters[at] : std::nan(""),
            at < fit.intervals.size() ? fit.intervals[at] : Interval(),
            determined ? note : "not determined by these rows");
  }
}

Derived derived(const FitResult& fit,
                const std::function<double(const std::vector<double>&)>& quantity) {
  Derived result{quantity(fit.parameters), {}};
  std::vector<double> values;
  for (const auto& refit : fit.bootstrap) values.push_back(quantity(refit));
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.size() >= 20) result.interval = central_interval(values);
  return result;
}

double value_of(const FitResult& fit, std::string_view parameter) {
  return fit.parameters[fit.form.parameter(parameter)];
}

Derived size_exponent(const FitResult& fit) {
  const auto alpha = fit.form.parameter("alpha"), beta = fit.form.parameter("beta");
  return derived(fit, [&](const auto& at) { return at[beta] / (at[alpha] + at[beta]); });
}

double slope_of(const std::vector<double>& x, const std::vector<double>& y) {
  const double mean_x = mean(x), mean_y = mean(y);
  double xy = 0, xx = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
  }
  return xy / xx;
}

double objective_at(const LawForm& form, const FitTable& table,
                    const std::vector<double>& parameters, double delta) {
  Objective objective(form, table, Standard{}, delta, 1);
  const auto free = objective.free_numbers(parameters);
  double value = 0;
  return objective.evaluate(free.data(), &value, nullptr) ? value : std::nan("");
}

std::vector<double> numbers_of(const RawTable& table, const std::string& column) {
  const auto at = std::find(table.names.begin(), table.names.end(), column);
  if (at == table.names.end())
    fail("{}: {}", table.files.front(), unknown_column(column, table.names));
  std::vector<double> out;
  for (std::size_t row = 0; row < table.cells.size(); ++row) {
    const auto& cell = table.cells[row][static_cast<std::size_t>(at - table.names.begin())];
    const auto value = parse_number(cell);
    require(value && std::isfinite(*value), "{}: column {}: {}; expected a finite number",
            table.where(row), column, cell_problem(cell));
    out.push_back(*value);
  }
  return out;
}

FitTable made_table(const std::string& name, std::span<const MadeRow> rows) {
  FitTable table;
  table.files = {name};
  for (const char* column :
       {"n_once", "n_rec", "loops", "backward_loops", "tokens", "flops", "loss", "budget"})
    table.columns.push_back({column, {}, {}});
  for (const auto& row : rows) {
    const double flops =
        row.tokens * train_matmul_flops(row.n_once, row.n_rec, {row.loops, row.backward_loops});
    const double values[] = {row.n_once, row.n_rec, row.loops, row.backward_loops,
                             row.tokens, flops,     row.loss,  row.budget};
    for (std::size_t i = 0; i < std::size(values); ++i)
      table.columns[i].values.push_back(values[i]);
    table.origins.push_back({0, table.origins.size() + 2});
  }
  return table;
}

}  // namespace rondo
