// Looking things up in a table of runs.
#include "law/table.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "law/column_names.h"
#include "law/raw_table.h"

namespace rondo {
namespace {

std::vector<std::string> names_of(const FitTable& table) {
  std::vector<std::string> names;
  for (const auto& column : table.columns) names.push_back(column.name);
  return names;
}

}  // namespace

const Column* FitTable::find(std::string_view name) const {
  const auto at = std::find_if(columns.begin(), columns.end(),
                               [&](const Column& column) { return column.name == name; });
  return at == columns.end() ? nullptr : &*at;
}

const std::vector<double>& FitTable::numbers(std::string_view name) const {
  const Column* column = find(name);
  if (column == nullptr) throw Error(unknown_column(name, names_of(*this)));
  require(!column->is_words(), "column {} holds words; expected numbers", one_line(name, 40));
  return column->values;
}

std::string FitTable::where(std::size_t row) const {
  return place_text(files[origins[row].file], origins[row].line);
}

FitTable FitTable::select(std::span<const std::size_t> rows) const {
  FitTable out;
  out.files = files;
  out.dropped = dropped;
  out.notes = notes;
  for (const std::size_t row : rows) out.origins.push_back(origins[row]);
  for (const auto& column : columns) {
    Column& its = out.columns.emplace_back();
    its.name = column.name;
    for (const std::size_t row : rows) {
      its.values.push_back(column.values[row]);
      if (column.is_words()) its.words.push_back(column.words[row]);
    }
  }
  return out;
}

}  // namespace rondo
