// Runs one shell command and keeps what it said.
#pragma once

#include <string>

namespace rondo::cli_test {

struct Outcome {
  int exit_status = 0;  ///< 128 + signal when it died of one
  bool timed_out = false;
  std::string out;
  std::string err;
};

/// Runs `command` with /bin/sh in `folder`, standard input empty; ends it, and what it started,
/// after `seconds`. Leaves two files with its output beside `folder`.
Outcome run_command(const std::string& command, const std::string& folder, int seconds);

}  // namespace rondo::cli_test
