// Cells by RFC 4180, and the checks that a table of runs needs.
#include "law/csv.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace rondo {
namespace {

/// Takes a text apart into rows of cells.
class CsvRows {
 public:
  CsvRows(std::string_view text, char separator, const std::string& name)
      : text_(text), separator_(separator), name_(name) {}

  [[nodiscard]] bool done() const { return at_ >= text_.size(); }
  /// The line that the next row begins in.
  [[nodiscard]] std::size_t line() const { return line_; }

  /// Passes over the line when there is nothing in it.
  bool skip_blank_line() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view content = text_.substr(at_, end - at_);
    // Where tabs separate, a line of tabs is a row of empty cells.
    if (!is_blank(content) || (separator_ == '\t' && content.find('\t') != std::string_view::npos))
      return false;
    at_ = end;
    skip_line_end();
    return true;
  }

  std::vector<std::string> next() {
    std::vector<std::string> cells;
    for (;; ++at_) {
      cells.push_back(cell());
      if (at_line_end()) break;
    }
    skip_line_end();
    return cells;
  }

 private:
  [[nodiscard]] bool at_line_end() const {
    if (done() || text_[at_] == '\n') return true;
    return text_[at_] == '\r' && (at_ + 1 == text_.size() || text_[at_ + 1] == '\n');
  }

  void skip_line_end() {
    if (!done() && text_[at_] == '\r') ++at_;
    if (!done()) ++at_;
    ++line_;
  }

  void skip_blanks() {
    while (!done() && (text_[at_] == ' ' || (text_[at_] == '\t' && separator_ != '\t'))) ++at_;
  }

  /// A cell, up to the separator or the end of the line that follows it.
  std::string cell() {
    skip_blanks();
    if (!done() && text_[at_] == '"') {
      std::string content = quoted();
      skip_blanks();
      require(at_line_end() || text_[at_] == separator_,
              "{}:{}: text after a closing quote; expected {}, and a quote inside quotes as \"\"",
              name_, line_, separator_ == ',' ? "a comma" : "a tab");
      return content;
    }
    const std::size_t start = at_;
    for (; !at_line_end() && text_[at_] != separator_; ++at_) {
      require(text_[at_] != '"',
              "{}:{}: a quote inside a cell; expected the whole cell in quotes, and a quote inside "
              "quotes as \"\"",
              name_, line_);
      require(text_[at_] != '\r', "{}:{}: a carriage return inside a line; expected LF or CRLF",
              name_, line_);
    }
    const std::string_view content = text_.substr(start, at_ - start);
    const auto last = content.find_last_not_of(" \t");
    return std::string(content.substr(0, last == std::string_view::npos ? 0 : last + 1));
  }

  std::string quoted() {
    const std::size_t opened = line_;
    std::string content;
    for (++at_; !done(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        if (done() || text_[at_] != '"') return content;
      }
      if (text_[at_] == '\n') ++line_;
      content += text_[at_];
    }
    fail("{}:{}: a quote is not closed; expected another \" at the end of the cell", name_, opened);
  }

  std::string_view text_;
  char separator_;
  const std::string& name_;
  std::size_t at_ = 0, line_ = 1;
};

char separator_of(std::string_view text, const std::string& name) {
  if (name.ends_with(".tsv")) return '\t';
  const std::string_view header = text.substr(0, text.find('\n'));
  const auto tabs = std::count(header.begin(), header.end(), '\t');
  return tabs > std::count(header.begin(), header.end(), ',') ? '\t' : ',';
}

void check_header(const std::vector<std::string>& names, const std::string& name) {
  require(names.size() > 1 || names[0].find(';') == std::string::npos,
          "{}:1: cells are apart by semicolons; expected commas or tabs", name);
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 1; i < sorted.size(); ++i)
    require(sorted[i].empty() || sorted[i] != sorted[i - 1],
            "{}:1: column {} is there twice; expected each name once", name,
            one_line(sorted[i], 40));
  const bool has_names = std::any_of(names.begin(), names.end(), [](const std::string& cell) {
    return !cell.empty() && !parse_number(cell);
  });
  require(has_names, "{}:1: no names of columns; expected a header line such as n,tokens,loss",
          name);
}

}  // namespace

RawTable read_csv(std::string_view text, const std::string& name) {
  text = checked_text(text, name);
  CsvRows rows(text, separator_of(text, name), name);
  RawTable table{.files = {name}};
  require(!rows.skip_blank_line(), "{}:1: is blank; expected the header line first", name);
  table.names = rows.next();
  check_header(table.names, name);
  std::size_t blank = 0;
  while (!rows.done()) {
    const std::size_t line = rows.line();
    if (rows.skip_blank_line()) {
      if (blank == 0) blank = line;
      continue;
    }
    require(blank == 0, "{}:{}: a blank line between rows; remove it", name, blank);
    auto cells = rows.next();
    require(cells != table.names,
            "{}:{}: the header again; expected it once (a file appended to itself?)", name, line);
    require(cells.size() == table.names.size(),
            "{}:{}: the number of cells is {} and the header has {} names; expected one cell a "
            "name, plain digits (1000, not 1,000), and text with separators in quotes",
            name, line, cells.size(), table.names.size());
    table.origins.push_back({0, line});
    table.cells.push_back(std::move(cells));
  }
  require(!table.cells.empty(), "{}: a header and no rows; expected one row per run", name);
  return table;
}

}  // namespace rondo
