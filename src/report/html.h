// Building HTML by hand, safely: text from records may hold anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rondo {

/// Text for element content and quoted attributes: markup escaped, control characters dropped,
/// bytes that are not UTF-8 replaced.
std::string escape_html(std::string_view text);

/// JSON that can stand inside a <script> element: no `<` or `>`, no line separators of JavaScript.
std::string json_for_script(std::string_view json);

/// A column of a table on a page.
struct TableColumn {
  std::string title;
  std::string meaning;  ///< shown when the pointer rests on the title; may be empty
  bool number = true;   ///< right-aligned
  std::string unit;     ///< below the title; may be empty
};

/// A table that scrolls sideways when it is wider than the page. Cells are HTML; titles are text.
std::string html_table(const std::vector<TableColumn>& columns,
                       const std::vector<std::vector<std::string>>& rows);

/// Takes out the columns that have "–" or nothing in every row: they say nothing.
void drop_empty_columns(std::vector<TableColumn>& columns,
                        std::vector<std::vector<std::string>>& rows);

}  // namespace rondo
