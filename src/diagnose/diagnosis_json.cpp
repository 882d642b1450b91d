// Rows as JSON and as text.
#include "diagnose/diagnosis_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace rondo {
namespace {

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

std::string or_nothing(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : std::string();
}

}  // namespace

Json rows_json(const std::vector<ProbeRow>& rows) {
  Json list = Json::array();
  for (const auto& row : rows) {
    Json json = {{"probe", name_of(row.probe)},
                 {"site", row.site},
                 {"loop", or_null(row.loop)},
                 {"lag", or_null(row.lag)},
                 {"value", std::isfinite(row.value) ? Json(row.value) : Json()}};
    if (!row.from.empty()) {
      json["from"] = row.from;
      json["from_loop"] = or_null(row.from_loop);
      json["change"] = or_null(row.change);
    }
    if (row.pairs) json["pairs"] = *row.pairs;
    if (row.converged) json["converged"] = *row.converged;
    list.push_back(std::move(json));
  }
  return list;
}

TextTable rows_table(const std::vector<ProbeRow>& rows) {
  TextTable table({"probe", "site", "loop", "lag", "value"});
  for (const auto& row : rows)
    if (row.from.empty())
      table.add({std::string(name_of(row.probe)), row.site, or_nothing(row.loop),
                 or_nothing(row.lag), fmt::format("{:.6g}", row.value)});
  return table;
}

}  // namespace rondo
