// Words, numbers and tables as people read them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {

std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> words, std::string_view separator);

/// Whether there is nothing but ASCII white space.
bool is_blank(std::string_view text);

/// The candidate closest to `word` in edit distance, or nothing when none is close (more than half
/// of the word would change).
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

/// Offset of the first byte that is not part of well-formed UTF-8, or nothing.
std::optional<std::size_t> invalid_utf8(std::string_view text);

/// Text from outside as it may stand in an error: control characters escaped, cut with "…" before
/// `longest` bytes. The text is UTF-8.
std::string one_line(std::string_view text, std::size_t longest = 80);

/// "1.23 M": four significant digits at most and an SI prefix.
std::string si(double value);
/// "1.2 GiB".
std::string bytes(double count);
/// "2 min 5 s", "3 h 10 min", "0.42 s".
std::string duration(double seconds);

/// Splits "1,2,4" into whole numbers. Throws an input error that names `what` on anything else.
std::vector<std::int64_t> parse_integers(std::string_view text, std::string_view what);

/// A table of text cells. Printed with tabs between cells when it is read by a program, else with
/// aligned columns; numbers should already be formatted.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) : rows_{std::move(header)} {}
  /// Adds a row; missing cells are empty, and more cells than the header has are a mistake.
  void add(std::vector<std::string> row);
  /// Columns padded with spaces to line up, at least two between them.
  [[nodiscard]] std::string aligned() const;
  /// Tab-separated.
  [[nodiscard]] std::string tabbed() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace rondo
