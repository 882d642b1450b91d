// Predicted against observed loss.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/chart_parts.h"
#include "report/law_chart_parts.h"
#include "report/law_charts.h"

namespace rondo {
namespace {

DataTable predicted_rows(const LawData& data, const std::vector<std::size_t>& places) {
  DataTable table;
  table.columns = {"run", "group", "cell", "set", "observed", "predicted", "residual"};
  for (const auto i : places) {
    const LawRow& row = data.rows[i];
    const LawCell& cell = data.cells[row.cell];
    table.rows.push_back({row.where, cell.group, cell.name, set_word(row), row.observed,
                          row.predicted, row.residual()});
  }
  return table;
}

/// Both axes reach equally far, so that the line of equal values is the diagonal.
std::pair<double, double> loss_range(const LawData& data) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const auto& row : data.rows) {
    low = std::min({low, row.observed, row.predicted});
    high = std::max({high, row.observed, row.predicted});
  }
  const double air = 0.03 * (high - low) + 1e-9;
  return {low - air, high + air};
}

Json predicted_tooltip() {
  return Json::array({{{"field", "run"}},
                      {{"field", "cell"}},
                      {{"field", "set"}},
                      tip("observed", "observed", ".4f"),
                      tip("predicted", "predicted", ".4f"),
                      tip("residual", "residual", "+.4f")});
}

}  // namespace

std::optional<Chart> predicted_chart(const LawData& data) {
  if (data.rows.empty()) return std::nullopt;
  const auto places = rows_to_draw(data);
  DataTable table = predicted_rows(data, places);
  const auto [low, high] = loss_range(data);
  Json spec = frame(table, 420);
  spec["params"] = Json::array({focus_parameter()});
  Json x = value_axis("observed", "observed loss (nats/token)", low, high);
  Json y = value_axis("predicted", "predicted loss (nats/token)", low, high);
  x["scale"]["domain"] = y["scale"]["domain"] = {low, high};
  spec["encoding"] = {{"x", x}, {"y", y}};
  const Json ends = {{{"observed", low}, {"predicted", low}},
                     {{"observed", high}, {"predicted", high}}};
  const Json diagonal = {
      {"data", {{"values", ends}}},
      {"mark", {{"type", "line"}, {"stroke", "var(--ink-3)"}, {"strokeWidth", 1}}}};
  Json marks = Json::object();
  add_row_marks(marks, data, predicted_tooltip());
  spec["layer"] = {diagonal, marks};
  return Chart{.name = "predicted",
               .title = "Predicted and observed loss",
               .how_to_read =
                   "One mark per run. On the line the law is right; below it, the run "
                   "is worse than the law says." +
                   held_out_words(data) + drawn_words(data),
               .spec = spec.dump(),
               .data = std::move(table),
               .legend = named_legend(data.groups, false),
               .can_focus = data.groups.size() > 1,
               .whole = places.size() < data.rows.size() ? predicted_rows(data, every_row(data))
                                                         : DataTable{}};
}

}  // namespace rondo
