// The numbers behind a chart as rows: inlined in its spec, and saved as CSV on request.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"

namespace rondo {

/// A text or a number; a number that is not finite is an empty cell.
using Cell = std::variant<double, std::string>;

/// A number that may be missing.
inline Cell cell_of(const std::optional<double>& value) {
  return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

/// Columns by name, every row as long as the header.
struct DataTable {
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
};

/// Comma-separated with a header line (RFC 4180, lines end in \n).
std::string to_csv(const DataTable& table);

/// The rows as objects. Numbers are rounded to six digits, far below what a chart shows.
Json to_rows(const DataTable& table);

}  // namespace rondo
