// A config.toml as a flat list of keys and values, whoever wrote it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rondo {

using ConfigLines = std::vector<std::pair<std::string, std::string>>;

/// Full keys ("train.steps") and the text of their values, in file order. Reads lines, not TOML: a
/// value that spans lines is cut, which is good enough to show and compare configs that this
/// version cannot parse.
ConfigLines config_lines(std::string_view toml);

}  // namespace rondo
