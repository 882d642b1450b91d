// Which column of a file is which of ours: names given with --column, our own, well-known others.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "law/raw_table.h"
#include "law/read_table.h"

namespace rondo {

/// The columns that every table of runs ends up with, in their order.
std::span<const std::string> contract_columns();
bool is_contract_column(std::string_view name);

/// Where the columns of a file are that are used under a name of ours.
struct ColumnMatch {
  /// Our name to the place in RawTable::names. It has loss, tokens or flops but not both, and n, or
  /// n_once and n_rec, or n and one of them; loops, backward_loops and needed columns as they are.
  std::map<std::string, std::size_t, std::less<>> places;
  std::vector<std::string> notes;  ///< "val_loss is taken as loss"

  [[nodiscard]] std::optional<std::size_t> find(std::string_view ours) const;
};

/// Matches the columns of a table. A name given with --column comes first, then exactly ours, then
/// ours in other spelling, then a well-known other name of a column that holds numbers; only the
/// last two take part when a file has what is wanted under no other name. Throws input errors that
/// name the file's columns: a mapping from an unknown column or to an unknown name of ours, a
/// column that is missing, two candidates for one.
ColumnMatch match_columns(const RawTable& table, const ReadOptions& options);

/// "no column los; did you mean loss? The columns are n_once, …".
std::string unknown_column(std::string_view name, std::span<const std::string> known);

}  // namespace rondo
