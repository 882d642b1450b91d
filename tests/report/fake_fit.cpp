// Planted laws.
#include "tests/report/fake_fit.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "law/catalogue.h"
#include "law/fit_record.h"

namespace rondo::test {
namespace {

std::vector<double> true_parameters(const std::string& law) {
  const std::vector<double> shared = {1.7, 430, 0.34, 520, 0.32};
  auto values = shared;
  if (law == "joint") values.insert(values.end(), {2.6, 2.0, 0.237, 1.022});
  if (law == "iso-depth") values.push_back(0.46);
  return values;
}

std::vector<std::pair<double, double>> loop_pairs(const std::string& law) {
  if (law == "chinchilla") return {{1, 1}};
  std::vector<std::pair<double, double>> pairs;
  for (int t = 1; t <= 8; t *= 2)
    for (int b = 1; b <= t; b *= 2)
      if (law == "joint" || b == t) pairs.emplace_back(t, b);
  return pairs;
}

/// Rows that follow the law but for some thousandths of a nat.
void add_rows(const FakeFit& options, FitResult& fit) {
  const LawFunction law(fit.form, fit.parameters);
  const double share = fit.recurrent_share;
  for (const char* name : {"n_once", "n_rec", "loops", "backward_loops", "tokens", "flops", "loss"})
    fit.table.columns.push_back({.name = name, .values = {}, .words = {}});
  fit.table.files = {"runs.csv"};
  for (const auto& [t, b] : loop_pairs(options.law))
    for (const double n : {5e7, 1.5e8, 3e8, 9e8})
      for (std::size_t i = 0; i < options.copies; ++i) {
        const double tokens = n * 5 * std::pow(4, static_cast<double>(i % 4));
        const LawFunction::Point point{.n_once = (1 - share) * n,
                                       .n_rec = share * n,
                                       .loops = t,
                                       .backward_loops = b,
                                       .tokens = tokens};
        const std::size_t row = fit.table.origins.size();
        const double flops = (6 * point.n_once + 2 * (t + 2 * b) * point.n_rec) * tokens;
        const double loss = law(point) + 0.003 * std::sin(static_cast<double>(row));
        const double values[] = {point.n_once, point.n_rec, t, b, tokens, flops, loss};
        for (std::size_t k = 0; k < fit.table.columns.size(); ++k)
          fit.table.columns[k].values.push_back(values[k]);
        fit.table.origins.push_back({.file = 0, .line = row + 2});
        fit.predicted.push_back(law(point));
        fit.held_out.push_back(options.hold_out_most_loops && t == 8);
      }
}

/// Refits around the parameters, and intervals to go with them.
void add_refits(std::size_t count, FitResult& fit) {
  for (std::size_t i = 0; i < count; ++i) {
    auto refit = fit.parameters;
    for (std::size_t k = 0; k < refit.size(); ++k)
      refit[k] *= 1 + 0.01 * std::sin(static_cast<double>(1 + i * (k + 3)));
    fit.bootstrap.push_back(std::move(refit));
  }
  for (const double value : fit.parameters) {
    fit.intervals.push_back(std::pair(0.99 * value, 1.01 * value));
    fit.standard_errors.push_back(0.005 * value);
  }
}

}  // namespace

FitResult fake_fit(const FakeFit& options) {
  FitResult fit;
  fit.form = find_law(options.law);
  fit.parameters = true_parameters(options.law);
  fit.identified.assign(fit.parameters.size(), true);
  fit.recurrent_share = options.law == "chinchilla" ? 0 : 0.42;
  add_rows(options, fit);
  add_refits(options.refits, fit);
  fit.fitted = {.points = fit.predicted.size(), .rmse_nats = 0.0021, .r2 = 0.9991};
  if (options.hold_out_most_loops)
    fit.holdout = FitQuality{.points = 16, .rmse_nats = 0.0032, .r2 = 0.99};
  fit.starts = 100;
  fit.starts_at_best = 90;
  fit.stop_reason = "converged";
  for (const auto& column : fit.table.columns) {
    const auto [low, high] = std::minmax_element(column.values.begin(), column.values.end());
    fit.ranges.push_back({column.name, *low, *high});
  }
  return fit;
}

fs::path write_fake_fit(const fs::path& folder, const FakeFit& options) {
  fs::path path = folder / "fit.json";
  write_file_atomically(path, to_json(fake_fit(options)).dump(1));
  return path;
}

}  // namespace rondo::test
