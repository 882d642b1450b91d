// Residuals against what was spent: structure that the law does not see.
#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/chart_parts.h"
#include "report/law_chart_parts.h"
#include "report/law_charts.h"

namespace rondo {
namespace {

/// Ranges of the running median.
constexpr int kMedianBins = 12;

/// Something that residuals can be drawn against: all of its values are above 0.
struct Against {
  std::string column, title, format;
  std::function<double(const LawRow&)> value;
};

std::vector<Against> against_what(const LawData& data) {
  std::vector<Against> all = {
      {"tokens_per_parameter", "tokens per parameter", "~g",
       [](const LawRow& row) { return row.tokens / row.parameters; }},
      {"flops", "training FLOPs", "~e", [](const LawRow& row) { return row.flops; }},
      {"tokens", "training tokens", "~s", [](const LawRow& row) { return row.tokens; }},
      {"parameters", "parameters without embeddings", "~s",
       [](const LawRow& row) { return row.parameters; }},
      {"predicted", "predicted loss (nats/token)", "~g",
       [](const LawRow& row) { return row.predicted; }}};
  for (std::size_t i = 0; i < data.further.size(); ++i)
    all.push_back({data.further[i], data.further[i], "~g",
                   [i](const LawRow& row) { return row.further[i]; }});
  std::erase_if(all, [&](const Against& one) {
    double low = HUGE_VAL, high = 0;
    for (const auto& row : data.rows) {
      const double value = one.value(row);
      if (!(value > 0) || !std::isfinite(value)) return true;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    return !(high > low * 1.001);  // a column of equal values shows nothing
  });
  return all;
}

DataTable residual_rows(const LawData& data, const std::vector<Against>& against,
                        const std::vector<std::size_t>& places) {
  DataTable table;
  table.columns = {"run", "group", "cell", "set", "residual"};
  for (const auto& one : against) table.columns.push_back(one.column);
  for (const auto i : places) {
    const LawRow& row = data.rows[i];
    const LawCell& cell = data.cells[row.cell];
    auto& cells = table.rows.emplace_back();
    cells = {row.where, cell.group, cell.name, set_word(row), row.residual()};
    for (const auto& one : against) cells.emplace_back(one.value(row));
  }
  return table;
}

/// A choice between the columns, and the axis that follows it.
Json x_parameter(const std::vector<Against>& against) {
  Json columns = Json::array(), titles = Json::array();
  for (const auto& one : against) {
    columns.push_back(one.column);
    titles.push_back(one.title);
  }
  Json parameter = {{"name", "x_axis"}, {"value", against.front().column}};
  if (against.size() > 1)
    parameter["bind"] = {{"input", "select"},
                         {"options", std::move(columns)},
                         {"labels", std::move(titles)},
                         {"name", "against "}};
  return parameter;
}

Json x_axis(const std::vector<Against>& against) {
  Json titles = Json::object(), formats = Json::object();
  for (const auto& one : against) {
    titles[one.column] = one.title;
    formats[one.column] = one.format;
  }
  Json axis = log_axis("x", "", "~s");
  axis.erase("title");
  axis["axis"] = {
      {"title", {{"signal", titles.dump() + "[x_axis]"}}},
      {"labelExpr", "datum.label == '' ? '' : format(datum.value, " + formats.dump() + "[x_axis])"},
      {"labelOverlap", true},
      {"labelSeparation", 4}};
  return axis;
}

/// Medians of the fitted rows in equal ranges of log x.
Json median_layer() {
  return {
      {"transform",
       {{{"filter", "datum.set == 'fitted'"}},
        {{"calculate", "log(datum.x)"}, {"as", "log_x"}},
        {{"bin", {{"maxbins", kMedianBins}}}, {"field", "log_x"}, {"as", {"from", "to"}}},
        {{"aggregate",
          {{{"op", "median"}, {"field", "residual"}, {"as", "residual"}},
           {{"op", "mean"}, {"field", "log_x"}, {"as", "middle"}},
           {{"op", "count"}, {"as", "runs"}}}},
         {"groupby", {"from", "to"}}},
        {{"filter", "datum.runs > 2"}},
        {{"calculate", "exp(datum.middle)"}, {"as", "x"}}}},
      {"mark", {{"type", "line"}, {"clip", true}, {"stroke", "var(--ink)"}, {"strokeWidth", 1.5}}},
      {"encoding", {{"order", {{"field", "x"}}}}}};
}

}  // namespace

std::optional<Chart> residuals_chart(const LawData& data) {
  const auto against = against_what(data);
  if (data.rows.size() < 3 || against.empty()) return std::nullopt;
  DataTable table = residual_rows(data, against, rows_to_draw(data));
  Json spec = frame(table, 300);
  spec["params"] = Json::array({x_parameter(against), focus_parameter()});
  spec["transform"] = {{{"calculate", "datum[x_axis]"}, {"as", "x"}}};
  const ResidualRange range = residual_range(data);
  const Json y = residual_axis(range);
  spec["encoding"] = {{"x", x_axis(against)}, {"y", y}};
  const Json zero = {{"data", {{"values", {{{"residual", 0}}}}}},
                     {"mark", {{"type", "rule"}, {"stroke", "var(--ink-3)"}}},
                     {"encoding", {{"x", nullptr}}}};
  Json tooltip = {{{"field", "run"}},
                  {{"field", "cell"}},
                  {{"field", "set"}},
                  tip("residual", "residual", "+.4f")};
  for (const auto& one : against) tooltip.push_back(tip(one.column, one.title, ".4~g"));
  Json marks = Json::object();
  add_row_marks(marks, data, tooltip);
  spec["layer"] = {zero, marks, median_layer()};
  Chart chart{.name = "residuals",
              .title = "Residuals by what was spent",
              .how_to_read =
                  "Observed less predicted loss. The line is the median of the fitted "
                  "runs in equal ranges; where it leaves zero, the law misses "
                  "something, and it is not to be trusted beyond that end." +
                  held_out_words(data) + range.words + drawn_words(data),
              .spec = spec.dump(),
              .data = std::move(table),
              .legend = named_legend(data.groups, false),
              .can_focus = data.groups.size() > 1};
  if (chart.data.rows.size() < data.rows.size())
    chart.whole = residual_rows(data, against, every_row(data));
  return chart;
}

}  // namespace rondo
