// Paths into JSON such as rows[0].loops, and what can be said about the value there.
#include "tests/cli/json_path.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>

#include "tests/cli/script.h"

namespace rondo::cli_test {
namespace {

using nlohmann::json;

[[noreturn]] void malformed(const std::string& what) { throw std::invalid_argument(what); }

json parse_value(const std::string& text) {
  json value = json::parse(text, nullptr, false);
  if (value.is_discarded()) malformed("'" + text + "' is no JSON value");
  return value;
}

double parse_number(const std::string& text) {
  const json value = parse_value(text);
  if (!value.is_number()) malformed("'" + text + "' is no number");
  return value.get<double>();
}

// One step of a path, a name or an index in brackets, is cut off the front of `path`.
json take_key(std::string& path) {
  if (path.front() == '.') path.erase(0, 1);
  const bool bracket = path.starts_with("[");
  const std::size_t end =
      bracket ? path.find(']') : std::min(path.find_first_of(".["), path.size());
  if (end == std::string::npos || end == 0) malformed("malformed path at '" + path + "'");
  const std::string key = path.substr(0, end);
  path.erase(0, bracket ? end + 1 : end);
  return bracket ? parse_value(key.substr(1)) : json(key);
}

const json* step_into(const json& value, const json& key) {
  if (key.is_string()) {
    const auto found = value.is_object() ? value.find(key.get<std::string>()) : value.end();
    return found == value.end() ? nullptr : &*found;
  }
  if (!key.is_number_integer() || !value.is_array()) return nullptr;
  const auto size = static_cast<std::int64_t>(value.size());
  const auto index = key.get<std::int64_t>() + (key.get<std::int64_t>() < 0 ? size : 0);
  return index >= 0 && index < size ? &value[static_cast<std::size_t>(index)] : nullptr;
}

bool has_type(const json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  for (const char* known : {"object", "array", "string", "boolean", "null"}) {
    if (type == known) return type == value.type_name();
  }
  malformed("'" + type + "' is no JSON type");
}

bool matches(const json& value, const std::string& regex) {
  return value.is_string() && std::regex_search(value.get<std::string>(), std::regex(regex));
}

bool equals(const json& value, const std::string& expected) {
  if (const auto sign = expected.find(" +- "); sign != std::string::npos) {
    const double centre = parse_number(expected.substr(0, sign));
    const double tolerance = parse_number(expected.substr(sign + 4));
    return value.is_number() && std::abs(value.get<double>() - centre) <= tolerance;
  }
  return value == parse_value(expected);
}

std::size_t length(const json& value) {
  return value.is_string() ? value.get_ref<const std::string&>().size() : value.size();
}

}  // namespace

const json* find_value(const json& root, const std::string& path) {
  const json* value = &root;
  for (std::string rest = path; value && !rest.empty();) value = step_into(*value, take_key(rest));
  return value;
}

bool compare(double left, const std::string& op, double right) {
  if (op == "==") return left == right;
  if (op == "!=") return left != right;
  if (op == "<") return left < right;
  if (op == "<=") return left <= right;
  if (op == ">") return left > right;
  if (op == ">=") return left >= right;
  malformed("'" + op + "' is no comparison");
}

bool holds(const json& value, const std::string& condition) {
  std::string rest = condition;
  const std::string word = take_word(rest);
  if (word.empty()) return true;
  if (word == "is") return has_type(value, rest);
  if (word == "~") return matches(value, rest);
  if (word == "==") return equals(value, rest);
  if (word == "!=") return !equals(value, rest);
  if (word == "length") {
    const std::string op = take_word(rest);
    return compare(static_cast<double>(length(value)), op, parse_number(rest));
  }
  const double limit = parse_number(rest);
  return value.is_number() && compare(value.get<double>(), word, limit);
}

}  // namespace rondo::cli_test
