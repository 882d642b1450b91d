// The numbers of a run that every law may use, from the cells of a row, checked.
#pragma once

#include <optional>
#include <string>

#include "law/column_names.h"
#include "law/raw_table.h"

namespace rondo {

/// One run. `flops` are 6 n_once + 2 (T + 2B) n_rec times tokens.
struct ContractRow {
  double n_once = 0, n_rec = 0;
  double loops = 1, backward_loops = 1;
  double tokens = 0, flops = 0, loss = 0;
};

/// Reads rows of one table.
class RowReader {
 public:
  /// `needed` are the columns beyond those of the contract that must be numbers above 0.
  RowReader(const RawTable& table, const ColumnMatch& match,
            const std::vector<std::string>& needed);

  /// The row's numbers, or nothing with `problem` saying which cell is bad and what was expected.
  /// Throws an input error for a run with loops where the table does not tell n_once from n_rec:
  /// no cell of it is bad.
  std::optional<ContractRow> read(std::size_t row, std::string& problem) const;

 private:
  const RawTable& table_;
  const ColumnMatch& match_;
  const std::vector<std::string>& needed_;
};

}  // namespace rondo
