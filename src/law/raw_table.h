// A table as it stands in a file: names and cells as text, before anything is made of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "law/table.h"

namespace rondo {

/// Rows of cells. An empty cell is a missing one.
struct RawTable {
  std::vector<std::string> files = {};  ///< as the user named them
  std::vector<RowOrigin> origins = {};  ///< one a row
  std::vector<std::string> names = {};  ///< of the columns; empty for one without a name
  std::vector<std::vector<std::string>> cells = {};  ///< [row][column]

  /// "runs.csv:14", or the run's folder.
  [[nodiscard]] std::string where(std::size_t row) const;
};

/// "runs.csv:14"; without a line the file alone.
std::string place_text(const std::string& file, std::size_t line);

/// The text without its byte order mark. Throws an input error with `name` and line for text that
/// is empty, holds a NUL byte or is not UTF-8.
std::string_view checked_text(std::string_view text, const std::string& name);

/// The number that a cell is, whatever the locale: 3, +3, 1e18, 16e+18, nan, inf; spaces around it
/// do not matter. Nothing for other text, separators between digits and numbers out of range.
std::optional<double> parse_number(std::string_view cell);

/// Why a cell is not the finite number it should be: "is missing", "\"n/a\" is not a number".
std::string cell_problem(std::string_view cell);

}  // namespace rondo
