// Scales, axes and marks of law charts.
#include "report/law_chart_parts.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/chart_parts.h"
#include "report/theme.h"

namespace rondo {
namespace {

/// An axis of residuals reaches to twice the size that 95 % of them stay below, if the largest is
/// beyond twice that.
constexpr double kUsualShare = 0.95, kReachOfUsual = 2, kFarOut = 4;

/// Values further apart than this factor get a logarithmic axis.
constexpr double kLogSpan = 4;

Json by_name(const std::string& field, std::span<const std::string> names, Json range) {
  Json domain = Json::array();
  for (const auto& name : names) domain.push_back(name);
  return {{"field", field},
          {"type", "nominal"},
          {"scale", {{"domain", std::move(domain)}, {"range", std::move(range)}}}};
}

}  // namespace

Json named_colour(const std::string& field, std::span<const std::string> names) {
  Json range = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) range.push_back(series_colour(i));
  return by_name(field, names, std::move(range));
}

Json named_shape(const std::string& field, std::span<const std::string> names) {
  Json range = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) range.push_back(series_shape(i));
  return by_name(field, names, std::move(range));
}

std::vector<LegendEntry> named_legend(std::span<const std::string> names, bool lines) {
  std::vector<LegendEntry> legend;
  if (names.size() > 1)
    for (std::size_t i = 0; i < names.size(); ++i)
      legend.push_back({names[i], series_colour(i), lines ? "" : series_path(i)});
  return legend;
}

void add_row_marks(Json& layer, const LawData& data, const Json& tooltip) {
  const Json colour = named_colour("group", data.groups);
  layer["mark"] = {{"type", "point"}, {"size", data.rows.size() > 400 ? 18 : 34}};
  layer["encoding"] = {{"stroke", colour},
                       {"fill",
                        {{"condition",
                          {{"test", "datum.set == 'fitted'"},
                           {"field", "group"},
                           {"type", "nominal"},
                           {"scale", colour["scale"]}}},
                         {"value", "var(--paper)"}}},
                       {"shape", named_shape("group", data.groups)},
                       {"opacity", focus_opacity(0.8, 0.08)},
                       {"tooltip", tooltip}};
}

std::string held_out_words(const LawData& data) {
  const bool any = std::any_of(data.rows.begin(), data.rows.end(),
                               [](const LawRow& row) { return row.held_out; });
  return any ? " Filled marks were fitted, hollow ones held out." : "";
}

ResidualRange residual_range(const LawData& data) {
  std::vector<double> sizes;
  ResidualRange range{.low = 0, .high = 0, .words = ""};
  for (const auto& row : data.rows) {
    sizes.push_back(std::abs(row.residual()));
    range.low = std::min(range.low, row.residual());
    range.high = std::max(range.high, row.residual());
  }
  if (!sizes.empty()) {
    std::sort(sizes.begin(), sizes.end());
    const auto place =
        static_cast<std::size_t>(kUsualShare * static_cast<double>(sizes.size() - 1));
    const double usual = sizes[place], reach = kReachOfUsual * usual;
    const auto beyond = sizes.end() - std::upper_bound(sizes.begin(), sizes.end(), reach);
    if (usual > 0 && sizes.back() > kFarOut * usual) {
      range.low = std::max(range.low, -reach);
      range.high = std::min(range.high, reach);
      range.words = fmt::format(" {} run{} beyond the ends of the axis and {} drawn there.", beyond,
                                beyond == 1 ? " lies" : "s lie", beyond == 1 ? "is" : "are");
    }
  }
  return range;
}

Json residual_axis(const ResidualRange& range) {
  Json axis = number_axis("residual", "residual (nats/token)");
  const double air = 0.05 * (range.high - range.low);
  axis["scale"]["domain"] = {range.low - air, range.high + air};
  axis["scale"]["clamp"] = true;
  return axis;
}

Json value_axis(const std::string& field, const std::string& title, double low, double high) {
  Json axis = number_axis(field, title);
  if (low > 0 && high / low > kLogSpan) axis["scale"]["type"] = "log";
  return axis;
}

Json log_axis(const std::string& field, const std::string& title, const std::string& format) {
  // Of the many lines of a logarithmic axis those at powers of ten are enough.
  const Json grid = {
      {"condition",
       {{"test", "abs(log(datum.value) / LN10 - round(log(datum.value) / LN10)) < 1e-6"},
        {"value", 1}}},
      {"value", 0}};
  return {
      {"field", field},
      {"type", "quantitative"},
      {"title", title},
      {"axis",
       {{"format", format}, {"labelOverlap", true}, {"labelSeparation", 4}, {"gridOpacity", grid}}},
      {"scale", {{"type", "log"}, {"nice", false}, {"padding", 8}}}};
}

Json tip(const std::string& field, const std::string& title, const std::string& format) {
  return {{"field", field}, {"title", title}, {"type", "quantitative"}, {"format", format}};
}

std::string set_word(const LawRow& row) { return row.held_out ? "held out" : "fitted"; }

std::string flops_words(double flops) { return fmt::format("{:.3g}", flops); }

}  // namespace rondo
