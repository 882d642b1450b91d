// Rows that count, columns beyond the contract, and what to note about them.
#include "law/table_builder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "law/contract_row.h"

namespace rondo {
namespace {

/// Numbers when all cells that are there are numbers, else words.
Column to_column(std::string name, std::vector<std::string> cells) {
  Column column{.name = std::move(name), .values = {}, .words = {}};
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  column.values.assign(cells.size(), kNone);
  bool empty = true;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].empty()) continue;
    empty = false;
    if (const auto number = parse_number(cells[i])) {
      column.values[i] = *number;
      continue;
    }
    column.values.assign(cells.size(), kNone);
    column.words = std::move(cells);
    return column;
  }
  if (empty) column.words = std::move(cells);
  return column;
}

}  // namespace

void TableBuilder::add(const RawTable& raw) { add(raw, options_); }

void TableBuilder::add_runs(const RawTable& raw) {
  ReadOptions options = options_;
  options.columns.clear();
  add(raw, options);
}

void TableBuilder::add(const RawTable& raw, const ReadOptions& options) {
  const ColumnMatch match = match_columns(raw, options);
  for (const auto& note : match.notes) add_note(note);
  const std::size_t first = table_.rows();
  const std::vector<bool> used = add_rows(raw, match);
  // Columns that others of the contract were made from stay under their own name too, so that
  // conditions can speak of a file in its own words.
  for (std::size_t column = 0; column < raw.names.size(); ++column) {
    const std::string& name = raw.names[column];
    const auto place = match.find(name);
    const auto not_used = [&](std::string_view why) {
      add_note(fmt::format("{}: column {} is not used: {}", raw.files.front(), name, why));
    };
    if (name.empty()) {
      add_note(
          fmt::format("{}: column {} has no name and is not used", raw.files.front(), column + 1));
    } else if (place && *place != column) {
      not_used(fmt::format("{} takes its place", raw.names[*place]));
    } else if (!is_contract_column(name)) {
      add_extra(name, raw, column, used);
    } else if (name == "flops" && !place) {
      not_used("flops follow from tokens");
    }
  }
  for (const auto& [ours, column] : match.places)
    if (!is_contract_column(ours) && ours != "n" && raw.names[column] != ours)
      add_extra(ours, raw, column, used);
  for (auto& extra : extras_) extra.cells.resize(table_.rows());
  note_truncation(raw, match, first);
}

std::vector<bool> TableBuilder::add_rows(const RawTable& raw, const ColumnMatch& match) {
  const RowReader reader(raw, match, options_.needed);
  const std::size_t first_file = table_.files.size();
  table_.files.insert(table_.files.end(), raw.files.begin(), raw.files.end());
  std::vector<bool> used(raw.cells.size());
  std::string problem;
  for (std::size_t i = 0; i < raw.cells.size(); ++i) {
    const auto row = reader.read(i, problem);
    if (!row) {
      problem = fmt::format("{}: {}", raw.where(i), problem);
      require(options_.skip_bad, "{}; --skip-bad leaves such rows out", problem);
      leave_out(problem);
      continue;
    }
    used[i] = true;
    table_.origins.push_back({first_file + raw.origins[i].file, raw.origins[i].line});
    // In the order of contract_columns().
    const std::array<double, 7> values = {row->n_once, row->n_rec, row->loops, row->backward_loops,
                                          row->tokens, row->flops, row->loss};
    for (std::size_t k = 0; k < values.size(); ++k) contract_[k].push_back(values[k]);
  }
  return used;
}

void TableBuilder::add_extra(const std::string& name, const RawTable& raw, std::size_t column,
                             const std::vector<bool>& used) {
  const auto [at, is_new] = places_.emplace(name, extras_.size());
  if (is_new) extras_.push_back({.name = name, .cells = {}});
  auto& cells = extras_[at->second].cells;
  const auto count = static_cast<std::size_t>(std::count(used.begin(), used.end(), true));
  cells.resize(table_.rows() - count);
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i]) cells.push_back(raw.cells[i][column]);
}

void TableBuilder::note_truncation(const RawTable& raw, const ColumnMatch& match,
                                   std::size_t first) {
  const auto& loops = contract_[2];
  const auto looped = [](double value) { return value > 1; };
  if (match.find("backward_loops") ||
      std::none_of(loops.begin() + static_cast<std::ptrdiff_t>(first), loops.end(), looped))
    return;
  add_note(fmt::format(
      "{}: has no column backward_loops, so gradients count as going through the last loop only; "
      "if they went through all, say --column backward_loops={}",
      raw.files.front(), raw.names[*match.find("loops")]));
}

void TableBuilder::add_note(const std::string& note) {
  if (noted_.insert(note).second) table_.notes.push_back(note);
}

void TableBuilder::leave_out(const std::string& problem) {
  constexpr std::size_t kShown = 3;
  ++table_.dropped;
  if (left_out_.size() < kShown) left_out_.push_back(problem);
}

FitTable TableBuilder::finish() {
  const std::string reasons =
      table_.dropped == 0 ? ""
                          : fmt::format("{} left out as bad{}: {}", table_.dropped,
                                        table_.dropped > left_out_.size() ? ", the first" : "",
                                        join(left_out_, "; "));
  require(table_.rows() > 0, "no rows to fit; {}",
          reasons.empty() ? "expected one row per run" : reasons);
  if (!reasons.empty()) add_note(reasons);
  const auto names = contract_columns();
  for (std::size_t k = 0; k < names.size(); ++k)
    table_.columns.push_back({.name = names[k], .values = std::move(contract_[k]), .words = {}});
  for (auto& extra : extras_)
    table_.columns.push_back(to_column(std::move(extra.name), std::move(extra.cells)));
  return std::move(table_);
}

}  // namespace rondo
