// Paths into JSON such as rows[0].loops, and what can be said about the value there.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace rondo::cli_test {

/// The value at `path` ("parameters.total", "rows[-1]", "[\"a name\"].b"), or null when there is
/// none. Throws std::invalid_argument when the path itself is malformed.
const nlohmann::json* find_value(const nlohmann::json& root, const std::string& path);

/// Whether `value` is as `condition` says ("== 3", "is array", "length > 0", "~ ^a"); an empty
/// condition always holds. Throws std::invalid_argument when the condition is malformed.
bool holds(const nlohmann::json& value, const std::string& condition);

/// Compares two numbers by one of == != < <= > >=; std::invalid_argument for any other word.
bool compare(double left, const std::string& op, double right);

}  // namespace rondo::cli_test
