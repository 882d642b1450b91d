// Finding rows.
#include "report/diagnosis_rows.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/law_json.h"

namespace rondo {

LoopSeries loop_series(const Json& diagnosis, const std::string& probe, const std::string& site,
                       const std::string& name) {
  LoopSeries series{name, {}};
  for (const auto& row : json_member(diagnosis, "rows")) {
    if (json_text(row, "probe") != probe || json_text(row, "site") != site ||
        !json_text(row, "from").empty())
      continue;
    const double loop = json_number(row, "loop"), value = json_number(row, "value");
    if (std::isfinite(loop) && std::isfinite(value)) series.points.emplace_back(loop, value);
  }
  return series;
}

double value_at(const LoopSeries& series, double loop) {
  for (const auto& [at, value] : series.points)
    if (at == loop) return value;
  return std::numeric_limits<double>::quiet_NaN();
}

std::vector<std::string> core_blocks(const Json& diagnosis) {
  std::vector<std::string> names;
  const double layers = json_number(json_member(diagnosis, "layers"), "core");
  for (int i = 0; i < layers; ++i) names.push_back(fmt::format("core.{}", i));
  return names;
}

double trained_loops_of(const Json& diagnosis) { return json_number(diagnosis, "trained_loops"); }
double loops_of(const Json& diagnosis) { return json_number(diagnosis, "loops"); }

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
