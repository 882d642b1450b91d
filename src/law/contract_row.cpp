// Checking the cells of a row and deriving what they leave out.
#include "law/contract_row.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "cost/flops.h"

namespace rondo {
namespace {

/// The cells of one row by our names. The first bad one is kept, and what is read after it is NaN.
class Cells {
 public:
  Cells(const RawTable& table, const ColumnMatch& match, std::size_t row)
      : table_(table), match_(match), row_(row) {}

  [[nodiscard]] bool has(std::string_view ours) const { return match_.find(ours).has_value(); }

  double positive(std::string_view ours) { return number(ours, false); }
  double not_negative(std::string_view ours) { return number(ours, true); }

  /// Notes a problem of the row unless there is one already.
  void wrong(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  double number(std::string_view ours, bool zero_is_fine) {
    const std::size_t column = match_.places.find(ours)->second;
    const std::string& cell = table_.cells[row_][column];
    const double value = parse_number(cell).value_or(std::nan(""));
    if (std::isfinite(value) && (value > 0 || (zero_is_fine && value == 0)))
      return value + 0.0;  // "-0" is 0
    const std::string& theirs = table_.names[column];
    wrong(fmt::format("column {}{}: {}; expected {}", one_line(theirs, 40),
                      theirs == ours ? "" : fmt::format(" ({})", ours),
                      std::isfinite(value) ? fmt::format("{} is {}", one_line(cell, 40),
                                                         value < 0 ? "negative" : "zero")
                                           : cell_problem(cell),
                      zero_is_fine ? "a number from 0" : "a number above 0"));
    return std::nan("");
  }

  const RawTable& table_;
  const ColumnMatch& match_;
  std::size_t row_;
  std::string problem_;
};

void read_sizes(Cells& cells, ContractRow& row) {
  const bool has_once = cells.has("n_once"), has_rec = cells.has("n_rec");
  if (has_once) row.n_once = cells.not_negative("n_once");
  if (has_rec) row.n_rec = cells.not_negative("n_rec");
  if (cells.has("n")) {
    const double n = cells.positive("n");
    (has_once ? row.n_rec : row.n_once) = n - (has_once ? row.n_once : row.n_rec);
    if (std::min(row.n_once, row.n_rec) < 0)
      cells.wrong(fmt::format("column {}: {} is more than n {}; expected a part of it",
                              has_once ? "n_once" : "n_rec", has_once ? row.n_once : row.n_rec, n));
  }
  if (row.n_once == 0 && row.n_rec == 0)
    cells.wrong("n_once and n_rec are both 0; expected one of them above 0");
}

void read_loops(Cells& cells, ContractRow& row) {
  if (cells.has("loops")) row.loops = cells.positive("loops");
  row.backward_loops =
      cells.has("backward_loops") ? cells.positive("backward_loops") : std::min(1.0, row.loops);
  if (row.backward_loops > row.loops)
    cells.wrong(
        fmt::format("column backward_loops: {} is more than loops {}; expected at most that{}",
                    row.backward_loops, row.loops,
                    cells.has("loops") ? "" : " (there is no column loops, which means 1)"));
}

void read_compute(Cells& cells, ContractRow& row) {
  const double per_token =
      train_matmul_flops(row.n_once, row.n_rec, {row.loops, row.backward_loops});
  if (cells.has("tokens")) {
    row.tokens = cells.positive("tokens");
    row.flops = per_token * row.tokens;
  } else {
    row.flops = cells.positive("flops");
    row.tokens = row.flops / per_token;
  }
  if (!std::isfinite(row.flops) || !(row.tokens > 0))
    cells.wrong("sizes and tokens are out of range together; expected numbers of a training run");
}

}  // namespace

RowReader::RowReader(const RawTable& table, const ColumnMatch& match,
                     const std::vector<std::string>& needed)
    : table_(table), match_(match), needed_(needed) {}

std::optional<ContractRow> RowReader::read(std::size_t row, std::string& problem) const {
  Cells cells(table_, match_, row);
  ContractRow out;
  read_sizes(cells, out);
  read_loops(cells, out);
  read_compute(cells, out);
  out.loss = cells.positive("loss");
  for (const auto& name : needed_)
    if (!is_contract_column(name)) cells.positive(name);
  problem = cells.problem();
  if (!problem.empty()) return std::nullopt;
  require(out.loops <= 1 || match_.find("n_once") || match_.find("n_rec"),
          "{}: loops is {} and there is only {} for the size; expected n_once and n_rec, the "
          "parameters outside and inside the loop",
          table_.where(row), out.loops, table_.names[*match_.find("n")]);
  return out;
}

}  // namespace rondo
