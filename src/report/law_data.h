// A FIT.json as the charts of its page need it: rows with what the law says of them, the loops they
// ran, and the law as a function.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "law/fit.h"
#include "law/fit_record.h"

namespace rondo {

/// One run of the table. Numbers that the table does not have are NaN.
struct LawRow {
  double observed = 0, predicted = 0;  ///< loss in nats
  bool held_out = false;
  std::string where;  ///< "runs.csv:14"
  double loops = 1, backward_loops = 1;
  double parameters, tokens, flops;
  std::size_t cell = 0;         ///< place in LawData::cells
  std::vector<double> further;  ///< values of LawData::further
  [[nodiscard]] double residual() const { return observed - predicted; }
};

/// Rows that ran the same loops.
struct LawCell {
  double loops = 1, backward_loops = 1;
  std::string name;   ///< "T 8, B 2"; "T 8" where B says nothing: every row has B = T
  std::string group;  ///< "T = 8": what colours go by
  std::size_t fitted = 0, held_out = 0;
};

/// The whole.
struct LawData {
  FittedLaw law;
  std::vector<LawRow> rows;          ///< those with an observed and a predicted loss
  std::size_t unpredicted = 0;       ///< rows that have none
  std::vector<LawCell> cells;        ///< by T, then B
  std::vector<std::string> groups;   ///< of the cells, by T
  std::vector<std::string> further;  ///< columns of the law beyond those of the contract
  bool loops_vary = false;
  bool truncates = false;  ///< some row has B < T
  double recurrent_share = 0;
  /// The law at any setting; nothing where it cannot be computed or optimised, and why not.
  std::optional<LawFunction> function;
  std::string why_no_function;
  double budget = 0;               ///< FLOPs that settings are compared at; 0 where none is known
  std::string budget_from;         ///< "the median of …"
  double least_flops, most_flops;  ///< of the fitted rows; NaN where none is known

  /// The cell with these loops, or nothing.
  [[nodiscard]] const LawCell* cell(double loops, double backward_loops) const;
  [[nodiscard]] std::string cell_name(double loops, double backward_loops) const;
};

/// Reads a FIT.json. `flops` is the budget to compare settings at, 0 = from the data. Throws the
/// input errors of parse_fit, and one for a `data` whose columns are not as long as each other.
LawData read_law_data(const Json& json, FittedLaw law, double flops);

/// Most marks of a chart: beyond, a page becomes slow.
inline constexpr std::size_t kMostMarks = 1500;

/// Places of all rows.
std::vector<std::size_t> every_row(const LawData& data);

/// Places of the rows that a chart draws: all, or the ones with the largest residuals and an even
/// share of the others.
std::vector<std::size_t> rows_to_draw(const LawData& data);

/// " Of 9000 rows 1500 are drawn: …", or nothing when all are.
std::string drawn_words(const LawData& data);

}  // namespace rondo
