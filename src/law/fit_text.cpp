// Tables and sentences of a fit.
#include "law/fit_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "law/fit_record.h"

namespace rondo {
namespace {

std::string four(double value) { return std::isfinite(value) ? fmt::format("{:.4g}", value) : "–"; }

std::string interval_text(const std::vector<Interval>& intervals, std::size_t i) {
  if (i >= intervals.size() || !intervals[i]) return "–";
  return fmt::format("{} … {}", four(intervals[i]->first), four(intervals[i]->second));
}

}  // namespace

TextTable parameter_table(const FitResult& fit) {
  const bool profiled = !fit.profile_intervals.empty();
  std::vector<std::string> header = {"parameter", "value", "95 % interval", "standard error"};
  if (profiled) header.emplace_back("profile interval");
  TextTable table(header);
  for (std::size_t i = 0; i < fit.form.parameters.size(); ++i) {
    const auto& parameter = fit.form.parameters[i];
    std::vector<std::string> row = {parameter.name};
    row.push_back(fit.identified[i] ? fmt::format("{:.6g}", fit.parameters[i]) : "not determined");
    row.push_back(parameter.fixed ? "fixed" : interval_text(fit.intervals, i));
    row.push_back(i < fit.standard_errors.size() ? four(fit.standard_errors[i]) : "–");
    if (profiled) row.push_back(interval_text(fit.profile_intervals, i));
    table.add(std::move(row));
  }
  return table;
}

std::string summary_text(const FitResult& fit) {
  auto text = fmt::format("law: {}: loss = {}\n", fit.form.name, fit.form.loss);
  for (const auto& [name, formula] : fit.form.define)
    text += fmt::format("     with {} = {}\n", name, formula);
  text += fmt::format(
      "fitted: {} runs, RMSE {:.4f} nats, R² {:.5f}; sum of Huber({:g}) of log loss {:.6g}\n",
      fit.fitted.points, fit.fitted.rmse_nats, fit.fitted.r2, fit.delta, fit.objective);
  if (fit.holdout)
    text += fmt::format("held out: {} runs, RMSE {:.4f} nats, R² {}\n", fit.holdout->points,
                        fit.holdout->rmse_nats,
                        std::isfinite(fit.holdout->r2) ? fmt::format("{:.5f}", fit.holdout->r2)
                                                       : "– (all losses equal)");
  text += fmt::format("search: {} of {} starts reached the best objective; {}, gradient {:.1e}\n",
                      fit.starts_at_best, fit.starts, fit.stop_reason, fit.gradient_norm);
  if (!fit.bootstrap.empty())
    text +=
        fmt::format("intervals: {} refits, resampling {}\n", fit.bootstrap.size(),
                    fit.bootstrap_by.empty() ? "rows" : "cells of " + join(fit.bootstrap_by, ", "));
  if (fit.dropped > 0) text += fmt::format("left out: {} bad rows\n", fit.dropped);
  for (const auto& statement : fit.statements) text += "not determined: " + statement + "\n";
  return text;
}

TextTable comparison_table(std::span<const FitResult> fits, std::span<const LeaveOneOut> left_out) {
  TextTable table({"law", "parameters", "objective", "RMSE", "RMSE held out", "RMSE cells left out",
                   "AIC", "BIC"});
  for (std::size_t i = 0; i < fits.size(); ++i) {
    const auto& fit = fits[i];
    table.add({fit.form.name, std::to_string(fit.form.free_count()), four(fit.objective),
               four(fit.fitted.rmse_nats), fit.holdout ? four(fit.holdout->rmse_nats) : "–",
               i < left_out.size() ? four(left_out[i].all.rmse_nats) : "–",
               fmt::format("{:.1f}", fit.aic), fmt::format("{:.1f}", fit.bic)});
  }
  return table;
}

Json comparison_json(std::span<const FitResult> fits, std::span<const LeaveOneOut> left_out) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < fits.size(); ++i) {
    const auto& fit = fits[i];
    rows.push_back(
        {{"law", fit.form.name},
         {"free_parameters", fit.form.free_count()},
         {"objective", finite_or_null(fit.objective)},
         {"rmse_nats", finite_or_null(fit.fitted.rmse_nats)},
         {"r2", finite_or_null(fit.fitted.r2)},
         {"holdout_rmse_nats", fit.holdout ? finite_or_null(fit.holdout->rmse_nats) : Json()},
         {"left_out_rmse_nats",
          i < left_out.size() ? finite_or_null(left_out[i].all.rmse_nats) : Json()},
         {"aic", finite_or_null(fit.aic)},
         {"bic", finite_or_null(fit.bic)}});
  }
  return rows;
}

TextTable to_text(const LeaveOneOut& left_out) {
  TextTable table({"cell left out", "runs", "RMSE"});
  for (const auto& cell : left_out.cells)
    table.add({cell.cell, std::to_string(cell.quality.points), four(cell.quality.rmse_nats)});
  table.add({"all", std::to_string(left_out.all.points), four(left_out.all.rmse_nats)});
  return table;
}

Json to_json(const LeaveOneOut& left_out) {
  Json cells = Json::array();
  for (const auto& cell : left_out.cells)
    cells.push_back({{"cell", cell.cell},
                     {"points", cell.quality.points},
                     {"rmse_nats", finite_or_null(cell.quality.rmse_nats)}});
  return {{"cells", cells},
          {"rmse_nats", finite_or_null(left_out.all.rmse_nats)},
          {"r2", finite_or_null(left_out.all.r2)}};
}

}  // namespace rondo
