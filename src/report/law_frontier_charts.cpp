// Compute-optimal loss, size and tokens over the budget.
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/statistics.h"
#include "report/chart_parts.h"
#include "report/law_chart_parts.h"
#include "report/law_charts.h"
#include "report/law_json.h"
#include "report/theme.h"

namespace rondo {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> names_of(const std::vector<LawFrontier>& frontiers) {
  std::vector<std::string> names;
  names.reserve(frontiers.size());
  for (const auto& frontier : frontiers) names.push_back(frontier.name);
  return names;
}

/// The lowest point of an isoFLOP parabola.
struct ParabolaPoint {
  std::string group;
  double flops, loss, parameters, tokens, low, high;
};

/// What a parameter and token of the rows with these loops cost. Budgets of a table may count what
/// the law's FLOPs leave out, so that points are placed by their size and tokens instead.
double flops_per_parameter_token(const LawData& data, double loops, double backward_loops) {
  std::vector<double> costs;
  for (const auto& row : data.rows)
    if (row.loops == loops && row.backward_loops == backward_loops)
      costs.push_back(row.flops / (row.parameters * row.tokens));
  return median(costs);
}

std::vector<ParabolaPoint> parabola_points(const LawData& data, const Json& isoflop) {
  std::vector<ParabolaPoint> points;
  for (const auto& cell : json_list(isoflop, "cells")) {
    if (json_text(cell, "varied") != "n_total") continue;
    const double loops = json_number(cell, "loops"), backward = json_number(cell, "backward_loops");
    const double cost = flops_per_parameter_token(data, loops, backward);
    for (const auto& curve : json_list(cell, "curves")) {
      if (!json_member(curve, "left_out").is_null()) continue;
      const auto interval = json_interval(curve, "interval");
      ParabolaPoint point{.group = data.cell_name(loops, backward),
                          .flops = 0,
                          .loss = json_number(curve, "loss_nats"),
                          .parameters = json_number(curve, "best"),
                          .tokens = json_number(curve, "tokens"),
                          .low = interval ? interval->first : kNothing,
                          .high = interval ? interval->second : kNothing};
      point.flops = cost * point.parameters * point.tokens;
      if (point.flops > 0 && std::isfinite(point.loss)) points.push_back(std::move(point));
    }
  }
  return points;
}

/// The frontier's colour, and the muted one for other cells: a scale would begin its colours again.
Json parabola_stroke(const std::vector<std::string>& names) {
  const Json colour = named_colour("group", names);
  return {{"condition",
           {{"test", "indexof(" + colour["scale"]["domain"].dump() + ", datum.group) >= 0"},
            {"field", "group"},
            {"type", "nominal"},
            {"scale", colour["scale"]}}},
          {"value", "var(--ink-3)"}};
}

/// The frontier that the others are held against: the plain model's, else the best one's.
const LawFrontier& reference_of(const std::vector<LawFrontier>& frontiers) {
  const auto plain = std::find_if(frontiers.begin(), frontiers.end(), [](const auto& one) {
    return one.loops.forward == 1 && one.loops.backward == 1;
  });
  return plain == frontiers.end() ? frontiers.front() : *plain;
}

DataTable frontier_rows(const LawData& data, const std::vector<LawFrontier>& frontiers,
                        const std::vector<ParabolaPoint>& points,
                        const std::vector<std::size_t>& places) {
  DataTable table;
  table.columns = {"kind", "group", "run",  "flops",      "loss",
                   "gap",  "low",   "high", "parameters", "tokens"};
  const auto& reference = reference_of(frontiers).settings;
  for (const auto& frontier : frontiers)
    for (std::size_t i = 0; i < frontier.settings.size(); ++i) {
      const Setting& at = frontier.settings[i];
      const auto band = i < frontier.loss.size() ? frontier.loss[i] : std::nullopt;
      const bool same = reference.size() == frontier.settings.size();
      table.rows.push_back(
          {std::string("frontier"), frontier.name, std::string(), at.flops, at.loss_nats,
           same ? 1000 * (at.loss_nats - reference[i].loss_nats) : kNothing,
           band ? band->first : kNothing, band ? band->second : kNothing, at.n_total, at.tokens});
    }
  for (const auto& point : points)
    table.rows.push_back({std::string("parabola"), point.group, std::string(), point.flops,
                          point.loss, kNothing, kNothing, kNothing, point.parameters,
                          point.tokens});
  for (const auto i : places) {
    const LawRow& row = data.rows[i];
    if (!(row.flops > 0)) continue;
    table.rows.push_back({std::string("run"), data.cells[row.cell].name, row.where, row.flops,
                          row.observed, kNothing, kNothing, kNothing, row.parameters, row.tokens});
  }
  return table;
}

Json of_kind(const char* kind) {
  return Json::array({{{"filter", fmt::format("datum.kind == '{}'", kind)}}});
}

/// A dashed line where the data end.
Json end_of_data(const LawData& data) {
  return {{"data", {{"values", {{{"flops", data.most_flops}}}}}},
          {"mark", {{"type", "rule"}, {"stroke", "var(--ink-3)"}, {"strokeDash", {4, 4}}}},
          {"encoding", {{"y", nullptr}}}};
}

Json setting_tips() {
  return Json::array({{{"field", "group"}},
                      tip("flops", "training FLOPs", ".3~e"),
                      tip("loss", "loss", ".4f"),
                      tip("parameters", "parameters", ".4~s"),
                      tip("tokens", "tokens", ".4~s")});
}

Json parabola_marks(const std::vector<std::string>& names, const Json& tooltip) {
  return {
      {"transform", of_kind("parabola")},
      {"mark", {{"type", "point"}, {"shape", "diamond"}, {"size", 70}, {"fill", "var(--paper)"}}},
      {"encoding",
       {{"stroke", parabola_stroke(names)}, {"opacity", focus_opacity()}, {"tooltip", tooltip}}}};
}

Json loss_layers(const LawData& data, const std::vector<LawFrontier>& frontiers, bool band,
                 bool parabolas) {
  const auto names = names_of(frontiers);
  const Json colour = named_colour("group", names);
  Json layers = Json::array();
  Json run_tips = setting_tips();
  run_tips.insert(run_tips.begin() + 1, Json::object({{"field", "run"}}));
  layers.push_back(
      {{"transform", of_kind("run")},
       {"mark", {{"type", "point"}, {"filled", true}, {"size", 14}, {"color", "var(--ink-3)"}}},
       {"encoding", {{"opacity", focus_opacity(0.55, 0.08)}, {"tooltip", run_tips}}}});
  Json banded = of_kind("frontier");
  if (frontiers.size() > 1) banded.push_back({{"filter", "shown == 'loss'"}});
  banded.push_back({{"filter", "isValid(datum.low)"}});
  if (band)
    layers.push_back(
        {{"transform", banded},
         {"mark", {{"type", "area"}, {"opacity", 0.22}, {"color", series_colour(0)}}},
         {"encoding",
          {{"y", {{"field", "low"}, {"type", "quantitative"}}}, {"y2", {{"field", "high"}}}}}});
  layers.push_back(end_of_data(data));
  layers.push_back(
      {{"transform", of_kind("frontier")},
       {"mark", {{"type", "line"}}},
       {"encoding",
        {{"color", colour}, {"opacity", focus_opacity()}, {"tooltip", setting_tips()}}}});
  if (parabolas) layers.push_back(parabola_marks(names, setting_tips()));
  return layers;
}

/// The loss, or what the loops win or lose against the reference: lines that differ by thousandths
/// of a nat lie on each other in the former.
Json shown_parameter(const std::vector<LawFrontier>& frontiers) {
  return {{"name", "shown"},
          {"value", "loss"},
          {"bind",
           {{"input", "select"},
            {"options", {"loss", "gap"}},
            {"labels", {"loss", "difference to " + reference_of(frontiers).name}},
            {"name", "show "}}}};
}

Json height_axis(const DataTable& table, const std::vector<LawFrontier>& frontiers) {
  constexpr std::size_t kLossColumn = 4;
  double low = HUGE_VAL, high = 0;
  for (const auto& row : table.rows) {
    low = std::min(low, std::get<double>(row[kLossColumn]));
    high = std::max(high, std::get<double>(row[kLossColumn]));
  }
  // Differences may be negative, so that a chart that offers them keeps to a linear axis.
  Json y = frontiers.size() > 1 ? number_axis("y", "") : value_axis("y", "", low, high);
  y.erase("title");
  const std::string gap =
      "loss less that of " + reference_of(frontiers).name + " (0.001 nat/token)";
  y["axis"] = {{"title", "loss (nats/token)"}};
  if (frontiers.size() > 1)
    y["axis"]["title"] = {
        {"signal", "shown == 'gap' ? " + Json(gap).dump() + " : 'loss (nats/token)'"}};
  y["scale"]["padding"] = 8;
  return y;
}

std::string frontier_words(const LawData& data, const std::vector<LawFrontier>& frontiers,
                           bool band, bool parabolas) {
  std::string text =
      frontiers.size() > 1
          ? "Every budget divided as well as the law knows between size and tokens, for the loops "
            "that do best at " +
                flops_words(data.budget) + " FLOPs; the lower line is the better use of a budget."
          : "Every budget divided as well as the law knows between size and tokens; a run far "
            "above "
            "the line was too large or too small for its budget.";
  if (data.law.form.uses("loops"))
    text += fmt::format(" {:.0f} % of the parameters are in the loop.", 100 * data.recurrent_share);
  if (band)
    text += " The band is the 95 % interval of the refits" +
            std::string(frontiers.size() > 1 ? " for the best of them." : ".");
  if (!data.rows.empty()) text += " Grey marks are the runs.";
  if (parabolas)
    text +=
        " Diamonds are lowest points of isoFLOP parabolas, which know neither the law nor its "
        "share of the loop.";
  return text + " Beyond the dashed line nothing was fitted.";
}

/// What can be chosen in the chart of the optimum.
constexpr std::array<std::pair<const char*, const char*>, 3> kQuantities = {
    {{"parameters", "parameters without embeddings"},
     {"tokens", "training tokens"},
     {"tokens_per_parameter", "tokens per parameter"}}};

DataTable optimum_rows(const std::vector<LawFrontier>& frontiers,
                       const std::vector<ParabolaPoint>& points) {
  DataTable table;
  table.columns = {"kind", "group", "flops", "parameters", "tokens", "tokens_per_parameter",
                   "low",  "high"};
  for (const auto& frontier : frontiers)
    for (const auto& at : frontier.settings)
      table.rows.push_back({std::string("frontier"), frontier.name, at.flops, at.n_total, at.tokens,
                            at.tokens / at.n_total, kNothing, kNothing});
  for (const auto& point : points)
    table.rows.push_back({std::string("parabola"), point.group, point.flops, point.parameters,
                          point.tokens, point.tokens / point.parameters, point.low, point.high});
  return table;
}

Json quantity_parameter() {
  Json columns = Json::array(), titles = Json::array();
  for (const auto& [column, title] : kQuantities) {
    columns.push_back(column);
    titles.push_back(title);
  }
  return {
      {"name", "quantity"},
      {"value", "parameters"},
      {"bind", {{"input", "select"}, {"options", columns}, {"labels", titles}, {"name", "show "}}}};
}

Json quantity_axis() {
  Json titles = Json::object();
  for (const auto& [column, title] : kQuantities) titles[column] = title;
  Json axis = log_axis("y", "", "~s");
  axis.erase("title");
  axis["axis"]["title"] = {{"signal", titles.dump() + "[quantity]"}};
  return axis;
}

Json optimum_layers(const LawData& data, const std::vector<LawFrontier>& frontiers,
                    bool parabolas) {
  const auto names = names_of(frontiers);
  const Json colour = named_colour("group", names);
  Json tips = Json::array({{{"field", "group"}}, tip("flops", "training FLOPs", ".3~e")});
  for (const auto& [column, title] : kQuantities) tips.push_back(tip(column, title, ".4~s"));
  const Json lines = {
      {"transform", of_kind("frontier")},
      {"mark", {{"type", "line"}}},
      {"encoding", {{"color", colour}, {"opacity", focus_opacity()}, {"tooltip", tips}}}};
  Json layers = Json::array({end_of_data(data), lines});
  if (!parabolas) return layers;
  Json with_interval = of_kind("parabola");
  with_interval.push_back({{"filter", "quantity == 'parameters' && datum.low > 0"}});
  layers.push_back({{"transform", with_interval},
                    {"mark", {{"type", "rule"}}},
                    {"encoding",
                     {{"y", {{"field", "low"}, {"type", "quantitative"}}},
                      {"y2", {{"field", "high"}}},
                      {"stroke", parabola_stroke(names)},
                      {"opacity", focus_opacity()}}}});
  layers.push_back(parabola_marks(names, tips));
  return layers;
}

}  // namespace

std::optional<Chart> frontier_chart(const LawData& data, const std::vector<LawFrontier>& frontiers,
                                    const Json& isoflop) {
  if (frontiers.empty()) return std::nullopt;
  const auto points = parabola_points(data, isoflop);
  const auto places = rows_to_draw(data);
  DataTable table = frontier_rows(data, frontiers, points, places);
  const auto& bands = frontiers.front().loss;
  const bool band =
      std::any_of(bands.begin(), bands.end(), [](const auto& one) { return one.has_value(); });
  Json spec = frame(table, 380);
  spec["params"] = Json::array({focus_parameter()});
  if (frontiers.size() > 1) spec["params"].push_back(shown_parameter(frontiers));
  spec["transform"] = {
      {{"calculate", frontiers.size() > 1 ? "datum[shown]" : "datum.loss"}, {"as", "y"}},
      {{"filter", "isValid(datum.y)"}}};
  const Json y = height_axis(table, frontiers);
  spec["encoding"] = {{"x", log_axis("flops", "training FLOPs", "~e")}, {"y", y}};
  spec["layer"] = loss_layers(data, frontiers, band, !points.empty());
  return Chart{
      .name = "frontier",
      .title = "Compute-optimal loss",
      .how_to_read = frontier_words(data, frontiers, band, !points.empty()) + drawn_words(data),
      .spec = spec.dump(),
      .data = std::move(table),
      .legend = named_legend(names_of(frontiers), true),
      .can_focus = frontiers.size() > 1,
      .whole = places.size() < data.rows.size()
                   ? frontier_rows(data, frontiers, points, every_row(data))
                   : DataTable{}};
}

std::optional<Chart> optimum_chart(const LawData& data, const std::vector<LawFrontier>& frontiers,
                                   const Json& isoflop) {
  if (frontiers.empty()) return std::nullopt;
  const auto points = parabola_points(data, isoflop);
  DataTable table = optimum_rows(frontiers, points);
  Json spec = frame(table, 300);
  spec["params"] = Json::array({quantity_parameter(), focus_parameter()});
  spec["transform"] = {{{"calculate", "datum[quantity]"}, {"as", "y"}}};
  spec["encoding"] = {{"x", log_axis("flops", "training FLOPs", "~e")}, {"y", quantity_axis()}};
  spec["layer"] = optimum_layers(data, frontiers, !points.empty());
  std::string words =
      "How large a model and how many tokens give the loss above. A straight line is a power law.";
  if (!points.empty()) words += " Diamonds are isoFLOP parabolas with their 95 % intervals.";
  return Chart{.name = "optimum",
               .title = "Compute-optimal size and tokens",
               .how_to_read = words + " Beyond the dashed line nothing was fitted.",
               .spec = spec.dump(),
               .data = std::move(table),
               .legend = named_legend(names_of(frontiers), true),
               .can_focus = frontiers.size() > 1};
}

}  // namespace rondo
