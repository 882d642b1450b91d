// The list of the charts of a law.
#include "report/law_charts.h"

#include <nlohmann/json.hpp>

#include "report/law_json.h"

namespace rondo {

std::vector<Chart> law_charts(const LawData& data, const Json& fit) {
  const auto optima = law_optima(data);
  const auto frontiers = law_frontiers(data, optima);
  const Json& isoflop = json_member(fit, "isoflop");
  std::vector<Chart> charts;
  const auto add = [&](std::optional<Chart> chart) {
    if (chart) charts.push_back(std::move(*chart));
  };
  add(predicted_chart(data));
  add(cells_chart(data));
  add(residuals_chart(data));
  add(bootstrap_chart(data, json_member(fit, "intervals")));
  add(gain_chart(data, optima));
  add(budget_chart(data, optima));
  add(frontier_chart(data, frontiers, isoflop));
  add(optimum_chart(data, frontiers, isoflop));
  return charts;
}

}  // namespace rondo
