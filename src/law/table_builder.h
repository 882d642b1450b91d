// Tables of several sources, joined by our names of their columns.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "law/column_names.h"
#include "law/raw_table.h"
#include "law/read_table.h"
#include "law/table.h"

namespace rondo {

/// Takes tables one after the other and makes one of them.
class TableBuilder {
 public:
  explicit TableBuilder(const ReadOptions& options) : options_(options) {}

  /// Adds a table whose columns may have any names. Throws input errors of its columns and rows;
  /// with skip_bad, bad rows are counted instead.
  void add(const RawTable& raw);
  /// Adds a table of run folders, whose columns have our names: --column does not speak of them.
  void add_runs(const RawTable& raw);
  /// Counts something that was left out, with its place and reason.
  void leave_out(const std::string& problem);

  /// The whole. Throws an input error when nothing is left.
  FitTable finish();

 private:
  /// A column beyond those of the contract, as long as the rows so far.
  struct Extra {
    std::string name;
    std::vector<std::string> cells;
  };
  void add(const RawTable& raw, const ReadOptions& options);
  std::vector<bool> add_rows(const RawTable& raw, const ColumnMatch& match);
  void add_extra(const std::string& name, const RawTable& raw, std::size_t column,
                 const std::vector<bool>& used);
  void note_truncation(const RawTable& raw, const ColumnMatch& match, std::size_t first);
  void add_note(const std::string& note);

  const ReadOptions& options_;
  FitTable table_;
  std::vector<std::vector<double>> contract_ = std::vector<std::vector<double>>(7);
  std::vector<Extra> extras_;
  std::unordered_map<std::string, std::size_t> places_;  ///< of extras, by name
  std::set<std::string> noted_;
  std::vector<std::string> left_out_;  ///< the first few problems
};

}  // namespace rondo
