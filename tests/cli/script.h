// The parsed form of a .test file; README.md beside this describes the format.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace rondo::cli_test {

/// A mistake in a .test file itself; what() has file and line.
struct ScriptError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Check {
  int line = 0;          ///< in the .test file, from 1
  bool negated = false;  ///< began with "no"
  std::string subject;   ///< "out", "err", "file" or "json"
  std::string rest;      ///< everything after the subject
};

/// Either a file to write (`file_name` is set) or a command with its checks.
struct Step {
  int line = 0;
  std::string file_name;
  std::string content;
  std::string command;
  int exit_status = 0;
  std::vector<Check> checks;
};

std::vector<Step> read_script(const std::string& path);

/// Cuts the first word off `text` and the blanks after it: "a b c" → "a", leaving "b c".
std::string take_word(std::string& text);

}  // namespace rondo::cli_test
