// Reading tables of runs: CSV, JSONL and run folders, third-party column names, several at once.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "law/table.h"

namespace rondo {

/// How tables are read.
struct ReadOptions {
  /// `--column loss=final_loss`: ours, theirs. One of theirs may serve two of ours.
  std::vector<std::pair<std::string, std::string>> columns = {};
  bool skip_bad = false;  ///< leave rows with bad cells out, and count them, instead of failing
  /// Columns beyond those of the contract that the law uses and every row must have, such as
  /// unique_tokens.
  std::vector<std::string> needed = {};
};

/// Reads files and run folders into one table that has n_once, n_rec, loops, backward_loops,
/// tokens, flops and loss for every row. Throws input errors that name file, line and column.
FitTable read_tables(std::span<const fs::path> sources, const ReadOptions& options);

/// The same for text in memory. `name` is used in messages; its extension says CSV or JSONL.
FitTable parse_table(std::string_view text, const std::string& name, const ReadOptions& options);

/// Rows of `table` where `condition` holds and where it does not: COLUMN (<, <=, >, >=, ==, !=)
/// NUMBER, joined by `and` (binds tighter) and `or`; a quoted word may stand for the number with ==
/// and !=. Throws an input error that names the place.
struct RowSplit {
  std::vector<std::size_t> holds, fails;
};
RowSplit split_rows(const FitTable& table, std::string_view condition);

/// Numbers from 0 of the groups of rows that share the values of these columns: the cells of a
/// bootstrap. Throws an input error for an unknown column.
std::vector<std::size_t> group_rows(const FitTable& table, std::span<const std::string> columns);

}  // namespace rondo
