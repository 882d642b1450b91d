// Holds what a command said against one line of a .test file.
#pragma once

#include <optional>
#include <string>

#include "tests/cli/process.h"
#include "tests/cli/script.h"

namespace rondo::cli_test {

/// Empty when the check holds, else a sentence that says what is wrong. Files are looked up in
/// `folder`. Throws std::invalid_argument or std::regex_error when the check itself is malformed.
std::optional<std::string> failure_of(const Check& check, const Outcome& outcome,
                                      const std::string& folder);

}  // namespace rondo::cli_test
