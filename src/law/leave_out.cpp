// Fitting without one cell after the other.
#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/machine.h"
#include "base/text.h"
#include "law/expression.h"
#include "law/fit.h"
#include "law/minimise.h"
#include "law/objective.h"
#include "law/quality.h"
#include "law/read_table.h"

namespace rondo {
namespace {

std::string cell_name(const FitTable& table, std::size_t row,
                      const std::vector<std::string>& columns) {
  std::vector<std::string> parts;
  for (const auto& name : columns) {
    const auto* column = table.find(name);
    parts.push_back(column->is_words() ? name + " " + column->words[row]
                                       : fmt::format("{} {:g}", name, column->values[row]));
  }
  return join(parts, ", ");
}

// The best of a descent from the whole fit and of some from random starts.
std::vector<double> refit(const FitResult& fit, const FitTable& rows, const FitOptions& options,
                          int threads) {
  const auto standard = standard_of(fit.form, rows);
  const Objective objective(fit.form, rows, standard, options.delta, options.overestimate_weight);
  const auto centre = objective.free_numbers(standard.standardised(fit.form, fit.parameters));
  std::vector<Minimum> minima(static_cast<std::size_t>(std::max(2, options.bootstrap_starts)));
  in_parallel(
      objective, static_cast<int>(minima.size()), threads,
      [&](int index, Objective& own) {
        const auto number = static_cast<std::uint64_t>(index);
        const auto start = index == 0 ? centre : random_start(fit.form, own, options.seed, number);
        minima[static_cast<std::size_t>(index)] = minimise(own, start, kMostIterations);
      },
      [](int) {});
  const auto best = std::min_element(
      minima.begin(), minima.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  require(!best->free.empty(), "law {}: no finite fit without one of the cells", fit.form.name);
  return standard.in_table_units(fit.form, objective.parameters(best->free));
}

}  // namespace

LeaveOneOut leave_one_cell_out(const FitResult& fit, const std::vector<std::string>& columns,
                               const FitOptions& options) {
  const auto cells = group_rows(fit.table, columns);
  std::map<std::size_t, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < cells.size(); ++i) members[cells[i]].push_back(i);
  require(members.size() >= 2,
          "--leave-out {}: all rows are one cell; expected columns that differ",
          join(columns, ","));
  const int threads = options.threads > 0 ? options.threads : available_cores();
  LeaveOneOut result;
  std::vector<double> observed_all, predicted_all;
  int done = 0;
  for (const auto& [cell, rows_of_cell] : members) {
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (cells[i] != cell) others.push_back(i);
    const auto rows = fit.table.select(others);
    const auto left_out = fit.table.select(rows_of_cell);
    const auto name = cell_name(fit.table, rows_of_cell.front(), columns);
    require(rows.rows() >= fit.form.free_count(),
            "--leave-out {}: without {} there are {} rows for {} parameters", join(columns, ","),
            name, rows.rows(), fit.form.free_count());
    const auto predicted = predict(fit.form, left_out, refit(fit, rows, options, threads));
    const auto& observed = left_out.numbers("loss");
    result.cells.push_back({name, quality_of(observed, predicted)});
    observed_all.insert(observed_all.end(), observed.begin(), observed.end());
    predicted_all.insert(predicted_all.end(), predicted.begin(), predicted.end());
    if (options.progress) options.progress("cells", ++done, static_cast<int>(members.size()));
  }
  result.all = quality_of(observed_all, predicted_all);
  return result;
}

}  // namespace rondo
