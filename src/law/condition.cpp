// Conditions on rows, as --holdout takes them, and groups of rows.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "law/column_names.h"
#include "law/raw_table.h"
#include "law/read_table.h"

namespace rondo {
namespace {

/// The column, or an error that begins with `where`.
const Column& column_of(const FitTable& table, const std::string& name, const std::string& where) {
  if (const Column* column = table.find(name)) return *column;
  std::vector<std::string> names;
  for (const auto& column : table.columns) names.push_back(column.name);
  fail("{}: {}", where, unknown_column(name, names));
}

enum class Comparison { kLess, kLessEqual, kGreater, kGreaterEqual, kEqual, kNotEqual };

template <typename Value>
bool compare(const Value& a, Comparison comparison, const Value& b) {
  switch (comparison) {
    case Comparison::kLess:
      return a < b;
    case Comparison::kLessEqual:
      return a <= b;
    case Comparison::kGreater:
      return a > b;
    case Comparison::kGreaterEqual:
      return a >= b;
    case Comparison::kEqual:
      return a == b;
    case Comparison::kNotEqual:
      break;
  }
  return a != b;
}

/// Reads a condition and evaluates it on the way. Errors name the character.
class Condition {
 public:
  using Rows = std::vector<bool>;

  Condition(const FitTable& table, std::string_view text) : table_(table), text_(text) {}

  Rows evaluate() {
    if (const auto bad = invalid_utf8(text_)) fail("condition: not valid UTF-8 at byte {}", *bad);
    Rows rows = any_of();
    skip_blanks();
    if (at_ < text_.size()) wrong("expected `and`, `or` or the end");
    return rows;
  }

 private:
  [[nodiscard]] std::string where(std::size_t at) const {
    return fmt::format("condition {}, character {}", one_line(text_), at + 1);
  }
  [[noreturn]] void wrong(std::string_view expected) const { fail("{}: {}", where(at_), expected); }

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  static bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || (static_cast<unsigned char>(c) & 0x80U) != 0;
  }

  [[nodiscard]] std::size_t end_of_name() const {
    std::size_t end = at_;
    while (end < text_.size() && is_name_character(text_[end])) ++end;
    return end;
  }

  /// Passes over the word where it stands next.
  bool accept_word(std::string_view word) {
    skip_blanks();
    const std::size_t end = end_of_name();
    if (text_.substr(at_, end - at_) != word) return false;
    at_ = end;
    return true;
  }

  bool accept(std::string_view sign) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }

  Rows any_of() {
    Rows rows = all_of();
    while (accept_word("or")) {
      const Rows more = all_of();
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = rows[i] || more[i];
    }
    return rows;
  }

  Rows all_of() {
    Rows rows = part();
    while (accept_word("and")) {
      const Rows more = part();
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = rows[i] && more[i];
    }
    return rows;
  }

  Rows part() {
    constexpr int kDeepest = 100;  // each level of parentheses is a level of calls
    if (!accept("(")) return comparison();
    if (++depth_ > kDeepest) wrong("parentheses nested too deeply");
    Rows rows = any_of();
    if (!accept(")")) wrong("expected `and`, `or` or )");
    --depth_;
    return rows;
  }

  /// What stands between two equal marks; the first has been read.
  std::string between(char mark) {
    const std::size_t end = text_.find(mark, at_);
    if (end == std::string_view::npos) wrong(fmt::format("expected a closing {}", mark));
    std::string content(text_.substr(at_, end - at_));
    at_ = end + 1;
    return content;
  }

  std::string column_name() {
    if (accept("`")) return between('`');
    skip_blanks();
    const std::size_t end = end_of_name();
    std::string name(text_.substr(at_, end - at_));
    if (name.empty() || (parse_number(name) && table_.find(name) == nullptr))
      wrong("expected a column, as in loops >= 4 (`` around names with spaces)");
    at_ = end;
    return name;
  }

  Comparison operation() {
    if (accept("<=")) return Comparison::kLessEqual;
    if (accept(">=")) return Comparison::kGreaterEqual;
    if (accept("==")) return Comparison::kEqual;
    if (accept("!=")) return Comparison::kNotEqual;
    if (accept("<")) return Comparison::kLess;
    if (accept(">")) return Comparison::kGreater;
    wrong("expected <, <=, >, >=, == or !=");
  }

  double number() {
    std::size_t end = at_;
    while (end < text_.size() &&
           (is_name_character(text_[end]) || text_[end] == '+' || text_[end] == '-'))
      ++end;
    const auto value = parse_number(text_.substr(at_, end - at_));
    if (!value || !std::isfinite(*value))
      wrong("expected a number, or a word in quotes for a column of words");
    at_ = end;
    return *value;
  }

  Rows comparison() {
    skip_blanks();
    const std::size_t start = at_;
    const std::string name = column_name();
    const Column& column = column_of(table_, name, where(start));
    skip_blanks();
    const std::size_t sign = at_;
    const Comparison comparison = operation();
    skip_blanks();
    const std::size_t right = at_;
    const bool is_word = at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'');
    Rows rows(table_.rows());
    if (!is_word) {
      const double value = number();
      require(!column.is_words(), "{}: column {} holds words; expected a word in quotes",
              where(right), one_line(name, 40));
      // A cell that is missing is not unequal either: nothing is known about it.
      for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i] = !std::isnan(column.values[i]) && compare(column.values[i], comparison, value);
      return rows;
    }
    const char mark = text_[at_++];
    const std::string word = between(mark);
    require(column.is_words(), "{}: column {} holds numbers; expected a number", where(right),
            one_line(name, 40));
    require(comparison == Comparison::kEqual || comparison == Comparison::kNotEqual,
            "{}: column {} holds words; expected == or !=", where(sign), one_line(name, 40));
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i] = compare(column.words[i], comparison, word);
    return rows;
  }

  const FitTable& table_;
  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

/// A cell as bytes that are equal for equal cells; a missing one equals another.
void append_key(std::string& key, const Column& column, std::size_t row) {
  if (column.is_words()) {
    key += fmt::format("{}:{}", column.words[row].size(), column.words[row]);
    return;
  }
  const double value = column.values[row] + 0.0;
  key += std::isnan(value) ? std::string("nan;") : fmt::format("{};", value);
}

}  // namespace

RowSplit split_rows(const FitTable& table, std::string_view condition) {
  const auto rows = Condition(table, condition).evaluate();
  RowSplit split;
  for (std::size_t i = 0; i < rows.size(); ++i) (rows[i] ? split.holds : split.fails).push_back(i);
  return split;
}

std::vector<std::size_t> group_rows(const FitTable& table, std::span<const std::string> columns) {
  std::vector<const Column*> chosen;
  for (const auto& name : columns) chosen.push_back(&column_of(table, name, "groups of rows"));
  std::vector<std::size_t> groups;
  std::map<std::string, std::size_t> known;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::string key;
    for (const Column* column : chosen) append_key(key, *column, row);
    groups.push_back(known.emplace(std::move(key), known.size()).first->second);
  }
  return groups;
}

}  // namespace rondo
