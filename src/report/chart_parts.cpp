// Shared parts of chart specs.
#include "report/chart_parts.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/theme.h"

namespace rondo {
namespace {

std::vector<std::string> group_names(const RunTable& table) {
  std::vector<std::string> names;
  for (const auto& group : table.groups) names.push_back(group.name);
  return names;
}

Json by_group(const RunTable& table, Json range) {
  return {{"field", "group"},
          {"type", "nominal"},
          {"scale", {{"domain", group_names(table)}, {"range", std::move(range)}}}};
}

}  // namespace

std::string_view key_of(Metric metric) {
  switch (metric) {
    case Metric::kBitsPerByte:
      return "bits_per_byte";
    case Metric::kAccuracy:
      return "accuracy";
    case Metric::kLoss:
      break;
  }
  return "validation_loss_nats";
}

Metric final_metric(const RunTable& table) {
  const auto all_have = [&](Metric metric) {
    bool any = false;
    for (const auto& group : table.groups) {
      if (value_of(Metric::kLoss, group).count == 0 && value_of(metric, group).count == 0) continue;
      if (value_of(metric, group).count == 0) return false;
      any = true;
    }
    return any;
  };
  for (const Metric metric : {Metric::kBitsPerByte, Metric::kAccuracy})
    if (all_have(metric)) return metric;
  return Metric::kLoss;
}

double value_of(Metric metric, const RunSummary& summary) {
  switch (metric) {
    case Metric::kBitsPerByte:
      return summary.bits_per_byte;
    case Metric::kAccuracy:
      return summary.accuracy;
    case Metric::kLoss:
      break;
  }
  return summary.validation_loss_nats;
}

double value_of(Metric metric, const DepthPoint& point) {
  switch (metric) {
    case Metric::kBitsPerByte:
      return point.bits_per_byte;
    case Metric::kAccuracy:
      return point.accuracy;
    case Metric::kLoss:
      break;
  }
  return point.loss_nats;
}

const Spread& value_of(Metric metric, const RunGroup& group) {
  switch (metric) {
    case Metric::kBitsPerByte:
      return group.bits_per_byte;
    case Metric::kAccuracy:
      return group.accuracy;
    case Metric::kLoss:
      break;
  }
  return group.validation_loss_nats;
}

bool in_chart(const RunGroup& group, const RunRecord& run) {
  return counts(group, run) || (group.finished == 0 && !group.provisional);
}

std::vector<LegendEntry> group_legend(const RunTable& table) {
  std::vector<LegendEntry> legend;
  if (table.groups.size() > 1)
    for (std::size_t i = 0; i < table.groups.size(); ++i)
      legend.push_back({table.groups[i].name, series_colour(i), series_path(i)});
  return legend;
}

Json group_colour(const RunTable& table) {
  Json range = Json::array();
  for (std::size_t i = 0; i < table.groups.size(); ++i) range.push_back(series_colour(i));
  return by_group(table, std::move(range));
}

Json group_shape(const RunTable& table) {
  Json range = Json::array();
  for (std::size_t i = 0; i < table.groups.size(); ++i) range.push_back(series_shape(i));
  return by_group(table, std::move(range));
}

Json focus_opacity(double full, double faded) {
  return {{"condition", {{"test", "focus == '' || focus == datum.group"}, {"value", full}}},
          {"value", faded}};
}

Json focus_parameter() { return {{"name", "focus"}, {"value", ""}}; }

Json frame(const DataTable& data, int height) {
  return {{"$schema", "https://vega.github.io/schema/vega-lite/v6.json"},
          {"width", "container"},
          {"height", height},
          {"autosize", {{"type", "fit"}, {"contains", "padding"}}},
          {"config", chart_config()},
          {"data", {{"values", to_rows(data)}}}};
}

Json number_axis(const std::string& field, const std::string& title) {
  return {{"field", field},
          {"type", "quantitative"},
          {"title", title},
          {"scale", {{"zero", false}, {"nice", false}}}};
}

}  // namespace rondo
