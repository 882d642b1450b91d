// Every seed's result beside the mean of its group, and the list of all charts.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "record/field_names.h"
#include "report/chart_parts.h"
#include "report/theme.h"

namespace rondo {
namespace {

/// Names of the groups, best first; groups without a value last.
Json best_first(const RunTable& table, Metric metric) {
  std::vector<const RunGroup*> order;
  for (const auto& group : table.groups) order.push_back(&group);
  const double sign = metric == Metric::kAccuracy ? -1 : 1;
  std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
    const double left = sign * value_of(metric, *a).mean, right = sign * value_of(metric, *b).mean;
    return std::isnan(right) ? !std::isnan(left) : left < right;
  });
  Json names = Json::array();
  for (const auto* group : order) names.push_back(group->name);
  return names;
}

DataTable results_data(const RunTable& table, Metric metric) {
  DataTable data;
  data.columns = {"group", "run", "seed", "state", "kind", "value"};
  for (const auto& group : table.groups) {
    const Spread& spread = value_of(metric, group);
    for (std::size_t i = 0; i < group.runs.size(); ++i) {
      const RunRecord& run = table.runs[group.runs[i]];
      if (!std::isfinite(spread.values[i])) continue;
      data.rows.push_back({group.name, table.names[group.runs[i]], group.seeds[i],
                           std::string(word(run.state)), std::string("run"), spread.values[i]});
    }
    if (spread.count > 0)
      data.rows.push_back({group.name, std::string(), std::string(), std::string(),
                           std::string("mean"), spread.mean});
  }
  return data;
}

Json results_layers(const RunTable& table) {
  const Json colour = group_colour(table);
  const Json number = {{"field", "value"}, {"type", "quantitative"}, {"format", ".4f"}};
  const Json mean = {
      {"transform", {{{"filter", "datum.kind == 'mean'"}}}},
      {"mark", {{"type", "tick"}, {"thickness", 2.5}, {"size", 18}}},
      {"encoding", {{"color", colour}, {"tooltip", {{{"field", "group"}}, number}}}}};
  const Json finished = {{"condition",
                          {{"test", "datum.state == 'finished'"},
                           {"field", "group"},
                           {"type", "nominal"},
                           {"scale", colour["scale"]}}},
                         {"value", "var(--paper)"}};
  const Json runs = {
      {"transform", {{{"filter", "datum.kind == 'run'"}}}},
      {"mark", {{"type", "point"}}},
      {"encoding",
       {{"stroke", colour},
        {"fill", finished},
        {"shape", group_shape(table)},
        {"tooltip", {{{"field", "run"}}, {{"field", "seed"}}, {{"field", "state"}}, number}}}}};
  return Json::array({mean, runs});
}

}  // namespace

std::optional<Chart> results_chart(const RunTable& table) {
  if (table.groups.size() < 2) return std::nullopt;
  const Metric metric = final_metric(table);
  DataTable data = results_data(table, metric);
  if (data.rows.empty()) return std::nullopt;
  Json spec = frame(data, 30 + 30 * static_cast<int>(table.groups.size()));
  Json value = number_axis("value", field_name(key_of(metric)).label());
  value["scale"]["padding"] = 14;  // marks at the ends stay clear of the names
  spec["encoding"] = {{"x", value},
                      {"y",
                       {{"field", "group"},
                        {"type", "nominal"},
                        {"title", nullptr},
                        {"sort", best_first(table, metric)},
                        {"axis", {{"labelLimit", 150}, {"grid", true}}}}}};
  spec["layer"] = results_layers(table);
  return Chart{.name = "results",
               .title = "Results by seed",
               .how_to_read = std::string("One mark per seed, a bar at the mean of the finished "
                                          "ones; hollow marks did not finish. ") +
                              (metric == Metric::kAccuracy ? "Further right" : "Further left") +
                              " is better, and a gap smaller than the scatter of the seeds says "
                              "little.",
               .spec = spec.dump(),
               .data = std::move(data),
               .legend = {},
               .can_focus = false};
}

std::vector<Chart> all_charts(const RunTable& table) {
  std::vector<Chart> charts;
  for (auto* make : {results_chart, length_chart, depth_chart, loss_chart, states_chart})
    if (auto chart = make(table)) charts.push_back(std::move(*chart));
  return charts;
}

}  // namespace rondo
