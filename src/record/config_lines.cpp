// Keys and values of a TOML text, line by line.
#include "record/config_lines.h"

#include <algorithm>

namespace rondo {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// The text before a comment; a # inside quotes is none.
std::string_view without_comment(std::string_view line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && c == '#') return line.substr(0, i);
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (quote == '"' && c == '\\') {
      ++i;
    } else if (c == quote) {
      quote = 0;
    }
  }
  return line;
}

}  // namespace

ConfigLines config_lines(std::string_view toml) {
  ConfigLines lines;
  std::string section;
  for (std::size_t start = 0; start < toml.size();) {
    const std::size_t end = std::min(toml.find('\n', start), toml.size());
    const std::string_view line = trimmed(without_comment(toml.substr(start, end - start)));
    start = end + 1;
    if (line.size() > 2 && line.front() == '[' && line.back() == ']') {
      section = std::string(trimmed(line.substr(1, line.size() - 2))) + ".";
    } else if (const auto equals = line.find('='); equals != std::string_view::npos) {
      lines.emplace_back(section + std::string(trimmed(line.substr(0, equals))),
                         std::string(trimmed(line.substr(equals + 1))));
    }
  }
  return lines;
}

}  // namespace rondo
