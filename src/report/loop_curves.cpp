// Lines over loops.
#include "report/loop_curves.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/chart_parts.h"
#include "report/law_chart_parts.h"

namespace rondo {
namespace {

/// The points of all series as rows, and how far they reach.
struct Points {
  DataTable data{.columns = {"series", "loop", "value", "low", "high"}, .rows = {}};
  std::vector<std::string> names;
  double low = INFINITY, high = -INFINITY, last = 0;
  std::size_t longest = 0;
  bool bands = false;

  explicit Points(const std::vector<LoopSeries>& all) {
    for (const auto& series : all)
      if (!series.points.empty()) add(series);
    if (bands) return;
    data.columns.resize(3);
    for (auto& row : data.rows) row.resize(3);
  }

  void add(const LoopSeries& series) {
    names.push_back(series.name);
    longest = std::max(longest, series.points.size());
    bands = bands || !series.ranges.empty();
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      const auto& [loop, value] = series.points[i];
      const auto [lowest, highest] =
          series.ranges.empty() ? std::pair{value, value} : series.ranges[i];
      data.rows.push_back({series.name, loop, value, lowest, highest});
      low = std::min(low, lowest);
      high = std::max(high, highest);
      last = std::max(last, loop);
    }
  }
};

Json focused(double full, double faded) {
  return {{"condition", {{"test", "focus == '' || focus == datum.series"}, {"value", full}}},
          {"value", faded}};
}

Json value_scale(const Points& points, const CurveWords& words, const std::string& field) {
  // Below this span lines are told apart as they are.
  const bool wide = points.low > 0 && points.high > 30 * points.low;
  Json y = wide ? log_axis(field, words.axis, "~e") : number_axis(field, words.axis);
  if (!wide) y["scale"]["padding"] = 8;
  return y;
}

}  // namespace

Json loop_axis(const std::string& field, const std::string& title) {
  Json x = number_axis(field, title);
  x["scale"]["padding"] = 10;
  x["axis"] = {{"format", "d"}, {"tickMinStep", 1}, {"labelOverlap", true}};
  return x;
}

std::optional<Chart> loop_curves(const CurveWords& words, const std::vector<LoopSeries>& all,
                                 double trained, std::optional<double> level) {
  Points points(all);
  if (points.longest < 2) return std::nullopt;
  const Json colour = named_colour("series", points.names);
  Json layers = Json::array();
  if (level)
    layers.push_back(
        {{"data", {{"values", {{{"value", *level}}}}}},
         {"mark", {{"type", "rule"}, {"stroke", "var(--ink-3)"}}},
         {"encoding", {{"x", nullptr}, {"y", {{"field", "value"}, {"type", "quantitative"}}}}}});
  if (points.bands)
    layers.push_back({{"mark", {{"type", "area"}}},
                      {"encoding",
                       {{"color", colour},
                        {"y", value_scale(points, words, "low")},
                        {"y2", {{"field", "high"}}},
                        {"opacity", focused(0.16, 0.03)}}}});
  Json tips = Json::array(
      {{{"field", "series"}}, tip("loop", words.loop, "d"), tip("value", words.axis, ".4g")});
  if (points.bands) {
    tips.push_back(tip("low", "lowest seed", ".4g"));
    tips.push_back(tip("high", "highest seed", ".4g"));
  }
  layers.push_back(
      {{"mark", {{"type", "line"}, {"point", {{"filled", true}, {"size", 30}}}}},
       {"encoding", {{"color", colour}, {"opacity", focused(1, 0.12)}, {"tooltip", tips}}}});
  Json spec = frame(points.data, 260);
  spec["params"] = Json::array({focus_parameter()});
  spec["encoding"] = {{"x", loop_axis("loop", words.loop)},
                      {"y", value_scale(points, words, "value")}};
  spec["layer"] = layers;
  add_horizon(spec, trained, points.last, "loop");
  return Chart{.name = words.name,
               .title = words.title,
               .how_to_read = words.how_to_read,
               .spec = spec.dump(),
               .data = std::move(points.data),
               .legend = named_legend(points.names, true),
               .can_focus = points.names.size() > 1};
}

void add_horizon(Json& spec, double at, double last, const std::string& field) {
  if (!(at < last)) return;
  // The words stand above the plot, where no bar or line can be.
  spec["padding"] = {{"left", 5}, {"right", 5}, {"bottom", 5}, {"top", 20}};
  auto& layers = spec["layer"];
  const Json data = {{"values", {{{field, at}, {"words", "trained loops end"}}}}};
  const Json x = {{"field", field}, {"type", "quantitative"}};
  layers.push_back(
      {{"data", data},
       {"mark", {{"type", "rule"}, {"stroke", "var(--ink-3)"}, {"strokeDash", {4, 3}}}},
       {"encoding", {{"x", x}, {"y", nullptr}}}});
  layers.push_back({{"data", data},
                    {"mark",
                     {{"type", "text"},
                      {"align", "left"},
                      {"baseline", "bottom"},
                      {"dx", -3},
                      {"y", -4},
                      {"fontSize", 12},
                      {"fill", "var(--ink-2)"}}},
                    {"encoding", {{"x", x}, {"y", nullptr}, {"text", {{"field", "words"}}}}}});
}

}  // namespace rondo
