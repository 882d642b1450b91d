// Lenient access to JSON.
#include "report/law_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace rondo {

const Json& json_member(const Json& object, std::string_view key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto place = object.find(key);
  return place == object.end() ? kNull : *place;
}

std::vector<Json> json_list(const Json& object, std::string_view key) {
  const Json& list = json_member(object, key);
  if (!list.is_array()) return {};
  return {list.begin(), list.end()};
}

double json_number(const Json& object, std::string_view key) {
  const Json& value = json_member(object, key);
  return value.is_number() ? value.get<double>() : std::nan("");
}

std::string json_text(const Json& object, std::string_view key) {
  const Json& value = json_member(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

std::vector<std::string> json_texts(const Json& object, std::string_view key) {
  std::vector<std::string> texts;
  for (const auto& one : json_list(object, key))
    if (one.is_string()) texts.push_back(one.get<std::string>());
  return texts;
}

bool json_true(const Json& object, std::string_view key) {
  const Json& value = json_member(object, key);
  return value.is_boolean() && value.get<bool>();
}

Interval json_interval(const Json& object, std::string_view key) {
  const Json& value = json_member(object, key);
  if (!value.is_array() || value.size() != 2 || !value[0].is_number() || !value[1].is_number())
    return std::nullopt;
  return std::pair(value[0].get<double>(), value[1].get<double>());
}

}  // namespace rondo
