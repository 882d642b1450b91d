// Text checks and numbers of cells.
#include "law/raw_table.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/text.h"

namespace rondo {
namespace {

std::size_t line_of(std::string_view text, std::size_t offset) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(offset);
  return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

/// The digits of a number without the spaces around them and the plus that from_chars refuses.
std::string_view bare_number(std::string_view cell) {
  const auto first = cell.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  cell = cell.substr(first, cell.find_last_not_of(" \t") - first + 1);
  if (cell.size() > 1 && cell[0] == '+' && cell[1] != '-') cell.remove_prefix(1);
  return cell;
}

/// Digits in groups, as in 1,000 or 1 000 or 1_000 or 1'000.
bool has_separators(std::string_view cell) {
  bool separated = false;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    const auto is_digit = [&](std::size_t at) {
      return at < cell.size() && cell[at] >= '0' && cell[at] <= '9';
    };
    if (is_digit(i)) continue;
    if (std::string_view(", _'").find(cell[i]) == std::string_view::npos) {
      if (std::string_view(".+-eE").find(cell[i]) == std::string_view::npos) return false;
    } else if (i > 0 && is_digit(i - 1) && is_digit(i + 1)) {
      separated = true;
    } else {
      return false;
    }
  }
  return separated;
}

}  // namespace

std::string place_text(const std::string& file, std::size_t line) {
  return line == 0 ? file : fmt::format("{}:{}", file, line);
}

std::string RawTable::where(std::size_t row) const {
  return place_text(files[origins[row].file], origins[row].line);
}

std::string_view checked_text(std::string_view text, const std::string& name) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  if (const auto bad = invalid_utf8(text))
    fail("{}:{}: not valid UTF-8; expected a table as UTF-8 text", name, line_of(text, *bad));
  if (const auto zero = text.find('\0'); zero != std::string_view::npos)
    fail("{}:{}: holds a NUL byte; expected a table as text", name, line_of(text, zero));
  require(text.find_first_not_of(" \t\r\n") != std::string_view::npos,
          "{}: is empty; expected a table with one row per run", name);
  return text;
}

std::optional<double> parse_number(std::string_view cell) {
  cell = bare_number(cell);
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (cell.empty() || error != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
  return value;
}

std::string cell_problem(std::string_view cell) {
  if (cell.find_first_not_of(" \t") == std::string_view::npos) return "is missing";
  const std::string shown = one_line(cell, 40);
  if (parse_number(cell)) return fmt::format("\"{}\" is not finite", shown);
  const std::string_view bare = bare_number(cell);
  double value = 0;
  const auto [end, error] = std::from_chars(bare.data(), bare.data() + bare.size(), value);
  if (error == std::errc::result_out_of_range && end == bare.data() + bare.size())
    return fmt::format("\"{}\" is out of the range of numbers", shown);
  if (has_separators(bare)) return fmt::format("\"{}\" has separators between its digits", shown);
  return fmt::format("\"{}\" is not a number", shown);
}

}  // namespace rondo
