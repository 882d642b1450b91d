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
  LoopSeries series{.name = name, .points = {}};
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

}  // namespace rondo
