// Rows as CSV and as JSON.
#include "report/data_table.h"

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace rondo {
namespace {

std::string csv_cell(const Cell& cell) {
  if (const double* number = std::get_if<double>(&cell))
    return std::isfinite(*number) ? fmt::format("{}", *number) : "";
  const auto& text = std::get<std::string>(cell);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

Json json_cell(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  const double number = std::get<double>(cell);
  if (!std::isfinite(number)) return nullptr;
  return std::strtod(fmt::format("{:.6g}", number).c_str(), nullptr);
}

}  // namespace

std::string to_csv(const DataTable& table) {
  std::string text;
  const auto add_line = [&](const auto& cells, auto&& format) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) text += ',';
      text += format(cells[i]);
    }
    text += '\n';
  };
  add_line(table.columns, [](const std::string& name) { return csv_cell(name); });
  for (const auto& row : table.rows) add_line(row, csv_cell);
  return text;
}

Json to_rows(const DataTable& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) object[table.columns[i]] = json_cell(row[i]);
    rows.push_back(std::move(object));
  }
  return rows;
}

}  // namespace rondo
