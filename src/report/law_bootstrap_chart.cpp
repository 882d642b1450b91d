// The refits of the bootstrap: how far each parameter moves when other runs are drawn.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/chart_parts.h"
#include "report/law_chart_parts.h"
#include "report/law_charts.h"
#include "report/law_json.h"
#include "report/theme.h"

namespace rondo {
namespace {

constexpr int kBins = 24;
/// Fewer refits make no histogram.
constexpr std::size_t kFewestRefits = 10;
/// How far a histogram reaches beyond the 95 % interval, in widths of it: single refits may lie
/// very far out.
constexpr double kReach = 0.5;

/// One parameter's refits, counted.
struct Histogram {
  double low = 0, high = 0;
  std::vector<int> counts = std::vector<int>(kBins, 0);
  std::size_t outside = 0;
};

Histogram count_refits(const std::vector<double>& values, const std::pair<double, double>& middle) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double reach = kReach * (middle.second - middle.first);
  Histogram histogram{.low = std::max(*least, middle.first - reach),
                      .high = std::min(*most, middle.second + reach)};
  for (const double value : values) {
    if (value < histogram.low || value > histogram.high) {
      ++histogram.outside;
      continue;
    }
    const double part = (value - histogram.low) / (histogram.high - histogram.low);
    ++histogram
          .counts[static_cast<std::size_t>(std::min(kBins - 1, static_cast<int>(part * kBins)))];
  }
  return histogram;
}

/// Rows of the bars, the fitted values and the intervals; counts refits that are not drawn.
DataTable histogram_rows(const LawData& data, const Json& intervals,
                         std::vector<std::string>& names, std::size_t& outside) {
  DataTable table;
  table.columns = {"parameter", "kind", "low", "high", "refits"};
  const auto& form = data.law.form;
  for (std::size_t k = 0; k < form.parameters.size(); ++k) {
    const auto& name = form.parameters[k].name;
    std::vector<double> values;
    for (const auto& refit : data.law.bootstrap) values.push_back(refit[k]);
    auto interval = json_interval(intervals, name);
    if (!interval) interval = middle_interval(values);
    // Held or undetermined parameters have nothing to show.
    if (form.parameters[k].fixed || !interval || !(interval->second > interval->first)) continue;
    if (!std::isfinite(data.law.parameters[k])) continue;
    names.push_back(name);
    const Histogram histogram = count_refits(values, *interval);
    outside += histogram.outside;
    const double width = (histogram.high - histogram.low) / kBins;
    for (std::size_t i = 0; i < kBins; ++i) {
      const double at = histogram.low + static_cast<double>(i) * width;
      table.rows.push_back(
          {name, std::string("refits"), at, at + width, static_cast<double>(histogram.counts[i])});
    }
    table.rows.push_back({name, std::string("interval"), interval->first, interval->second, 0.0});
    table.rows.push_back(
        {name, std::string("fit"), data.law.parameters[k], data.law.parameters[k], 0.0});
  }
  return table;
}

Json histogram_layers() {
  const auto kind = [](const char* word) -> Json {
    return Json::array({{{"filter", fmt::format("datum.kind == '{}'", word)}}});
  };
  Json x = number_axis("low", "");
  x["title"] = nullptr;
  x["axis"] = {{"tickCount", 3},
               {"labelFlush", false},
               {"labelExpr", "format(datum.value, abs(datum.value) < 1e5 ? '.5~g' : '.2~e')"}};
  const Json y = {
      {"field", "refits"}, {"type", "quantitative"}, {"title", nullptr}, {"axis", nullptr}};
  const Json bars = {
      {"transform", kind("refits")},
      {"mark",
       {{"type", "bar"}, {"color", series_colour(0)}, {"opacity", 0.75}, {"binSpacing", 0}}},
      {"encoding",
       {{"x", x},
        {"x2", {{"field", "high"}}},
        {"y", y},
        {"y2", {{"datum", 0}}},
        {"tooltip",
         {tip("low", "from", ".4~g"), tip("high", "to", ".4~g"), tip("refits", "refits", "d")}}}}};
  const Json interval = {
      {"transform", kind("interval")},
      {"mark", {{"type", "rule"}, {"strokeWidth", 3}, {"stroke", "var(--ink-2)"}}},
      {"encoding",
       {{"x", x},
        {"x2", {{"field", "high"}}},
        {"y", {{"datum", 0}}},
        {"tooltip", {tip("low", "2.5 %", ".4~g"), tip("high", "97.5 %", ".4~g")}}}}};
  const Json fit = {{"transform", kind("fit")},
                    {"mark", {{"type", "rule"}, {"strokeWidth", 2}, {"stroke", series_colour(1)}}},
                    {"encoding", {{"x", x}, {"tooltip", {tip("low", "fitted", ".5~g")}}}}};
  return Json::array({bars, interval, fit});
}

}  // namespace

std::optional<Chart> bootstrap_chart(const LawData& data, const Json& intervals) {
  const std::size_t refits = data.law.bootstrap.size();
  if (refits < kFewestRefits) return std::nullopt;
  std::vector<std::string> names;
  std::size_t outside = 0;
  DataTable table = histogram_rows(data, intervals, names, outside);
  if (names.empty()) return std::nullopt;
  Json spec = frame(table, 90);
  for (const char* key : {"width", "height", "autosize"}) spec.erase(key);
  spec["columns"] = 3;
  spec["facet"] = {{"field", "parameter"},
                   {"type", "nominal"},
                   {"title", nullptr},
                   {"sort", names},
                   {"header", {{"labelAnchor", "start"}}}};
  spec["spec"] = {{"width", 180}, {"height", 90}, {"layer", histogram_layers()}};
  spec["resolve"] = {{"scale", {{"x", "independent"}, {"y", "independent"}}}};
  std::string words = fmt::format(
      "Each parameter in {} fits to rows drawn anew. The upright line is the fit to all rows, the "
      "bar below spans 95 % of the refits; a wide or lopsided heap is a parameter that these runs "
      "hardly pin down.",
      refits);
  if (outside > 0)
    words += fmt::format(" {} value{} far outside {} not drawn.", outside, outside == 1 ? "" : "s",
                         outside == 1 ? "is" : "are");
  return Chart{.name = "bootstrap",
               .title = "How sure the parameters are",
               .how_to_read = words,
               .spec = spec.dump(),
               .data = std::move(table),
               .legend = {}};
}

}  // namespace rondo
