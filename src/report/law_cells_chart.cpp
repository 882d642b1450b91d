// Residuals cell by cell: whether the law leans one way for some loops or budgets.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/chart_parts.h"
#include "report/law_chart_parts.h"
#include "report/law_charts.h"

namespace rondo {
namespace {

/// Rows of a chart that still fit on a screen.
constexpr std::size_t kMostStrips = 32;
/// Ranges of compute are from 1 to 2 to 5 to 10 unless that makes more than this many.
constexpr std::size_t kMostRanges = 14;

/// The strip of every row, in words, and the strips from top to bottom.
struct Strips {
  std::vector<std::string> of_row;
  std::vector<std::string> order;
  bool budgets = false;
};

Strips by_loops(const LawData& data, bool backward) {
  Strips strips;
  for (const auto& cell : data.cells) {
    const auto& name = backward ? cell.name : cell.group;
    if (strips.order.empty() || strips.order.back() != name) strips.order.push_back(name);
  }
  for (const auto& row : data.rows)
    strips.of_row.push_back(backward ? data.cells[row.cell].name : data.cells[row.cell].group);
  return strips;
}

/// The largest of `steps` · 10^k that is not above `value`.
double round_down(double value, std::initializer_list<double> steps) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  double best = power;
  for (const double step : steps)
    if (step * power <= value * (1 + 1e-9)) best = step * power;
  return best;
}

Strips by_compute(const LawData& data) {
  for (const auto steps : {std::initializer_list<double>{1, 2, 5}, {1}}) {
    Strips strips{.of_row = {}, .order = {}, .budgets = true};
    std::map<double, std::string> names;
    for (const auto& row : data.rows) {
      if (!(row.flops > 0)) return {};
      const double low = round_down(row.flops, steps);
      names[low] = fmt::format("from {} FLOPs", flops_words(low));
      strips.of_row.push_back(names[low]);
    }
    for (const auto& [low, name] : names) strips.order.push_back(name);
    if (strips.order.size() <= kMostRanges || steps.size() == 1) return strips;
  }
  return {};
}

Strips strips_of(const LawData& data) {
  if (!data.loops_vary) return by_compute(data);
  auto strips = by_loops(data, true);
  if (strips.order.size() > kMostStrips) strips = by_loops(data, false);
  return strips.order.size() > kMostStrips ? by_compute(data) : strips;
}

double quartile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

/// Quartiles of every strip with four rows or more.
Json boxes(const LawData& data, const Strips& strips) {
  std::map<std::string, std::vector<double>> residuals;
  for (std::size_t i = 0; i < data.rows.size(); ++i)
    residuals[strips.of_row[i]].push_back(data.rows[i].residual());
  Json list = Json::array();
  for (auto& [name, values] : residuals) {
    if (values.size() < 4) continue;
    std::sort(values.begin(), values.end());
    list.push_back({{"cell", name},
                    {"low", quartile(values, 0.25)},
                    {"residual", quartile(values, 0.5)},
                    {"high", quartile(values, 0.75)},
                    {"rows", values.size()}});
  }
  return list;
}

Json cell_layers(const LawData& data, const Strips& strips) {
  const Json values = boxes(data, strips);
  const Json zero = {{"data", {{"values", {{{"residual", 0}}}}}},
                     {"mark", {{"type", "rule"}, {"stroke", "var(--ink-3)"}}},
                     {"encoding", {{"y", nullptr}}}};
  const Json tips = {{{"field", "cell"}},
                     tip("low", "lower quartile", "+.4f"),
                     tip("residual", "median", "+.4f"),
                     tip("high", "upper quartile", "+.4f"),
                     tip("rows", "runs", "d")};
  const Json x = {{"field", "low"}, {"type", "quantitative"}};
  const Json box = {{"data", {{"values", values}}},
                    {"mark", {{"type", "bar"}, {"height", 14}, {"fill", "var(--rule)"}}},
                    {"encoding", {{"x", x}, {"x2", {{"field", "high"}}}, {"tooltip", tips}}}};
  const Json middle = {
      {"data", {{"values", values}}},
      {"mark", {{"type", "tick"}, {"thickness", 2}, {"size", 14}, {"color", "var(--ink-2)"}}},
      {"encoding", {{"tooltip", tips}}}};
  Json marks = Json::object();
  add_row_marks(marks, data,
                Json::array({{{"field", "run"}},
                             {{"field", "set"}},
                             tip("residual", "residual", "+.4f"),
                             tip("observed", "observed", ".4f")}));
  return Json::array({box, zero, middle, marks});
}

DataTable cell_rows(const LawData& data, const Strips& strips,
                    const std::vector<std::size_t>& places) {
  DataTable table;
  table.columns = {"run", "group", "cell", "set", "observed", "residual"};
  for (const auto i : places) {
    const LawRow& row = data.rows[i];
    table.rows.push_back({row.where, data.cells[row.cell].group, strips.of_row[i], set_word(row),
                          row.observed, row.residual()});
  }
  return table;
}

}  // namespace

std::optional<Chart> cells_chart(const LawData& data) {
  const Strips strips = strips_of(data);
  if (strips.order.size() < 2) return std::nullopt;
  DataTable table = cell_rows(data, strips, rows_to_draw(data));
  Json spec = frame(table, 40 + 24 * static_cast<int>(strips.order.size()));
  spec["params"] = Json::array({focus_parameter()});
  const ResidualRange range = residual_range(data);
  const Json x = residual_axis(range);
  spec["encoding"] = {{"x", x},
                      {"y",
                       {{"field", "cell"},
                        {"type", "nominal"},
                        {"title", nullptr},
                        {"sort", strips.order},
                        {"axis", {{"labelLimit", 150}, {"grid", true}}}}}};
  spec["layer"] = cell_layers(data, strips);
  const std::string what = strips.budgets ? "range of compute" : "number of loops";
  Chart chart{.name = "cells",
              .title = strips.budgets ? "Residuals by compute" : "Residuals by loops",
              .how_to_read =
                  "Observed less predicted loss, one mark per run; the bar spans the "
                  "middle half of a row, the tick is its median. A " +
                  what +
                  " whose runs lie on one side of zero is one that the law gets "
                  "wrong." +
                  held_out_words(data) + range.words + drawn_words(data),
              .spec = spec.dump(),
              .data = std::move(table),
              .legend = named_legend(data.groups, false),
              .can_focus = data.groups.size() > 1};
  if (chart.data.rows.size() < data.rows.size())
    chart.whole = cell_rows(data, strips, every_row(data));
  return chart;
}

}  // namespace rondo
