// Escaping and tables.
#include "report/html.h"

#include <algorithm>

#include "base/error.h"
#include "record/utf8.h"

namespace rondo {
namespace {

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') out += c;
    }
  }
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  append_escaped(out, with_valid_utf8(text));
  return out;
}

std::string json_for_script(std::string_view json) {
  std::string out;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = json.substr(i, 3);
    if (json[i] == '<' || json[i] == '>') {
      out += json[i] == '<' ? "\\u003c" : "\\u003e";
    } else if (rest == "\xE2\x80\xA8" || rest == "\xE2\x80\xA9") {
      out += rest == "\xE2\x80\xA8" ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += json[i];
    }
  }
  return out;
}

std::string html_table(const std::vector<TableColumn>& columns,
                       const std::vector<std::vector<std::string>>& rows) {
  std::string out = "<div class=\"scroll\"><table>\n<thead><tr>";
  for (const auto& column : columns) {
    const std::string meaning =
        column.meaning.empty() ? "" : fmt::format(" title=\"{}\"", escape_html(column.meaning));
    const std::string unit =
        column.unit.empty() ? "" : fmt::format("<br><small>{}</small>", escape_html(column.unit));
    out += fmt::format("<th scope=\"col\"{}{}>{}{}</th>", column.number ? " class=\"n\"" : "",
                       meaning, escape_html(column.title), unit);
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const char* tag = i == 0 ? "th scope=\"row\"" : "td";
      out += fmt::format("<{}{}>{}</{}>", tag, columns[i].number ? " class=\"n\"" : "", row[i],
                         i == 0 ? "th" : "td");
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

void drop_empty_columns(std::vector<TableColumn>& columns,
                        std::vector<std::vector<std::string>>& rows) {
  for (std::size_t i = columns.size(); i-- > 0;) {
    const bool says_something = std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
      return !row[i].empty() && row[i] != "–";
    });
    if (says_something) continue;
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(i));
    for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace rondo
