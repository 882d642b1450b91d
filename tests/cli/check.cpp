// Holds what a command said against one line of a .test file.
#include "tests/cli/check.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "tests/cli/json_path.h"

namespace rondo::cli_test {
namespace {

using nlohmann::json;
using Failure = std::optional<std::string>;

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

Failure some_line(const std::vector<std::string>& lines, bool negated, const std::string& sentence,
                  const std::function<bool(const std::string&)>& wanted) {
  const bool found = std::any_of(lines.begin(), lines.end(), wanted);
  if (found != negated) return std::nullopt;
  return fmt::format("{} line {}", negated ? "a" : "no", sentence);
}

Failure check_text(const std::string& text, std::string rest, bool negated) {
  const auto lines = split_lines(text);
  const std::string word = take_word(rest);
  if (word == "=") {
    return some_line(lines, negated, fmt::format("is exactly '{}'", rest),
                     [&](const std::string& line) { return line == rest; });
  }
  if (word == "contains") {
    return some_line(lines, negated, fmt::format("contains '{}'", rest),
                     [&](const std::string& line) { return line.find(rest) != std::string::npos; });
  }
  if (word == "~") {
    const std::regex regex(rest);
    return some_line(lines, negated, fmt::format("matches '{}'", rest),
                     [&](const std::string& line) { return std::regex_search(line, regex); });
  }
  if (word == "empty") {
    if (text.empty() != negated) return std::nullopt;
    return negated ? "it is empty" : "it is not empty";
  }
  if (word == "lines") {
    const std::string op = take_word(rest);
    if (compare(static_cast<double>(lines.size()), op, std::stod(rest)) != negated)
      return std::nullopt;
    return fmt::format("it has {} lines", lines.size());
  }
  throw std::invalid_argument(fmt::format("'{}' says nothing about text", word));
}

Failure check_file(std::string rest, bool negated, const std::string& folder) {
  const auto path = std::filesystem::path(folder) / take_word(rest);
  const bool exists = std::filesystem::exists(path);
  if (rest.empty()) {
    if (exists != negated) return std::nullopt;
    return negated ? "it exists" : "it does not exist";
  }
  if (!exists) return "it does not exist";
  std::ifstream in(path, std::ios::binary);
  return check_text((std::ostringstream() << in.rdbuf()).str(), rest, negated);
}

// A path ends at the first blank outside quotes.
std::string take_path(std::string& rest) {
  bool quoted = false;
  std::size_t end = 0;
  for (; end < rest.size() && (quoted || rest[end] != ' '); ++end) quoted ^= rest[end] == '"';
  std::string path = rest.substr(0, end);
  rest.erase(0, std::min(rest.find_first_not_of(' ', end), rest.size()));
  return path;
}

Failure check_json(const std::string& out, std::string rest, bool negated) {
  const json root = json::parse(out, nullptr, false);
  if (root.is_discarded() || !root.is_object()) return "stdout is not exactly one JSON object";
  const std::string path = take_path(rest);
  const json* value = find_value(root, path);
  if (negated && rest.empty()) {
    return value ? Failure(fmt::format("{} is there: {}", path, value->dump())) : std::nullopt;
  }
  if (!value) return fmt::format("{} is not there", path);
  if (holds(*value, rest) != negated) return std::nullopt;
  return fmt::format("{} is {}", path, value->dump());
}

}  // namespace

Failure failure_of(const Check& check, const Outcome& outcome, const std::string& folder) {
  if (check.subject == "out") return check_text(outcome.out, check.rest, check.negated);
  if (check.subject == "err") return check_text(outcome.err, check.rest, check.negated);
  if (check.subject == "file") return check_file(check.rest, check.negated, folder);
  return check_json(outcome.out, check.rest, check.negated);
}

}  // namespace rondo::cli_test
