// Reading what may or may not be in a FIT.json or PLAN.json: pages show what is there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "law/fit.h"

namespace rondo {

/// A member of an object; null when it is missing or `object` is no object.
const Json& json_member(const Json& object, std::string_view key);
/// Its elements when it is an array, else none.
std::vector<Json> json_list(const Json& object, std::string_view key);
/// NaN unless it is a number.
double json_number(const Json& object, std::string_view key);
/// Empty unless it is a string.
std::string json_text(const Json& object, std::string_view key);
/// The strings of an array.
std::vector<std::string> json_texts(const Json& object, std::string_view key);
bool json_true(const Json& object, std::string_view key);
/// [low, high], or nothing.
Interval json_interval(const Json& object, std::string_view key);

}  // namespace rondo
