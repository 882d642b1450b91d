// Runs as a table that laws are fitted to: named columns, one row a run, each row knowing where it
// came from. Columns of the contract: n_once, n_rec, loops, backward_loops, tokens, flops, loss.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {

/// Where a row came from, for errors and for pages.
struct RowOrigin {
  std::size_t file = 0;  ///< place in FitTable::files
  std::size_t line = 0;  ///< from 1, the header is line 1; 0 for a run folder
};

/// One column. A column of words keeps the cells as they were read and has NaN for values.
struct Column {
  std::string name;
  std::vector<double> values;
  std::vector<std::string> words;  ///< empty for a column of numbers

  [[nodiscard]] bool is_words() const { return !words.empty(); }
};

/// Rows in the order of reading.
struct FitTable {
  std::vector<std::string> files;  ///< as the user named them; for runs the folder
  std::vector<RowOrigin> origins;  ///< one a row
  std::vector<Column> columns;
  std::size_t dropped = 0;         ///< rows left out because of --skip-bad
  std::vector<std::string> notes;  ///< what a reader of the result should know

  [[nodiscard]] std::size_t rows() const { return origins.size(); }
  /// The column of that name, or nothing.
  [[nodiscard]] const Column* find(std::string_view name) const;
  /// The numbers of a column. Throws an input error that names the columns there are when it is
  /// missing or holds words.
  [[nodiscard]] const std::vector<double>& numbers(std::string_view name) const;
  /// "runs.csv:14", or the run's folder.
  [[nodiscard]] std::string where(std::size_t row) const;
  /// The rows of these numbers, in this order.
  [[nodiscard]] FitTable select(std::span<const std::size_t> rows) const;
};

}  // namespace rondo
