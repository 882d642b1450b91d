// Charts as files of their own.
#include "report/chart.h"

#include <nlohmann/json.hpp>

#include "report/theme.h"

namespace rondo {

std::string standalone_spec(const Chart& chart) {
  Json spec = Json::parse(chart.spec);
  spec["title"] = {{"text", chart.title}, {"anchor", "start"}, {"fontWeight", "normal"}};
  spec["description"] = chart.how_to_read;
  // Small multiples have a width each.
  if (!spec.contains("facet")) spec["width"] = 640;
  return standalone(spec.dump(1)) + "\n";
}

}  // namespace rondo
