// Rows, cells and budget from the JSON of a fit.
#include "report/law_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/statistics.h"
#include "base/text.h"

namespace rondo {
namespace {

constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
constexpr std::array kContractColumns = std::to_array<std::string_view>(
    {"n_once", "n_rec", "loops", "backward_loops", "tokens", "flops"});

/// Rows that are drawn for their residuals when not all are.
constexpr std::size_t kOutliers = kMostMarks / 10;

/// Columns of the `data` of a FIT.json by name.
class DataReader {
 public:
  DataReader(const Json& json, const std::string& path) : path_(path) {
    const auto data = json.find("data");
    if (data == json.end() || !data->is_object()) return;
    columns_ = data->value("columns", Json::object());
    where_ = data->value("where", Json::array());
    held_out_ = data->value("held_out", Json::array());
    predicted_ = data->value("predicted_loss", Json::array());
    rows_ = predicted_.size();
    for (const auto* list : {&where_, &held_out_}) check(*list, "where and held_out");
    for (const auto& [name, values] : columns_.items()) check(values, "columns." + name);
  }

  [[nodiscard]] std::size_t rows() const { return rows_; }

  [[nodiscard]] std::vector<double> numbers(std::string_view name, double otherwise) const {
    const auto place = columns_.find(name);
    if (place == columns_.end()) return std::vector<double>(rows_, otherwise);
    return all_numbers(*place);
  }
  [[nodiscard]] std::vector<double> predicted() const { return all_numbers(predicted_); }
  [[nodiscard]] bool held_out(std::size_t row) const {
    return held_out_[row].is_boolean() && held_out_[row].get<bool>();
  }
  [[nodiscard]] std::string where(std::size_t row) const {
    return where_[row].is_string() ? where_[row].get<std::string>() : "";
  }

 private:
  void check(const Json& list, const std::string& what) const {
    require(list.is_array() && list.size() == rows_,
            "{}: data.{}: expected a list as long as data.predicted_loss ({})", path_, what, rows_);
  }

  static std::vector<double> all_numbers(const Json& list) {
    std::vector<double> values;
    for (const auto& value : list)
      values.push_back(value.is_number() ? value.get<double>() : kAbsent);
    return values;
  }

  const std::string& path_;
  Json columns_ = Json::object(), where_ = Json::array(), held_out_ = Json::array(),
       predicted_ = Json::array();
  std::size_t rows_ = 0;
};

void read_rows(const DataReader& reader, LawData& data) {
  for (const auto& name : data.law.form.columns())
    if (std::find(kContractColumns.begin(), kContractColumns.end(), name) == kContractColumns.end())
      data.further.push_back(name);
  const auto observed = reader.numbers("loss", kAbsent), predicted = reader.predicted();
  const auto once = reader.numbers("n_once", kAbsent), recurrent = reader.numbers("n_rec", 0);
  const auto loops = reader.numbers("loops", 1), backward = reader.numbers("backward_loops", 1);
  const auto tokens = reader.numbers("tokens", kAbsent), flops = reader.numbers("flops", kAbsent);
  std::vector<std::vector<double>> further;
  for (const auto& name : data.further) further.push_back(reader.numbers(name, kAbsent));
  std::vector<double> shares;
  for (std::size_t i = 0; i < reader.rows(); ++i) {
    if (!std::isfinite(observed[i]) || !std::isfinite(predicted[i])) {
      ++data.unpredicted;
      continue;
    }
    LawRow row{.observed = observed[i],
               .predicted = predicted[i],
               .held_out = reader.held_out(i),
               .where = reader.where(i),
               .loops = loops[i],
               .backward_loops = backward[i],
               .parameters = once[i] + recurrent[i],
               .tokens = tokens[i],
               .flops = flops[i],
               .cell = 0,
               .further = {}};
    for (const auto& column : further) row.further.push_back(column[i]);
    if (row.parameters > 0 && !row.held_out) shares.push_back(recurrent[i] / row.parameters);
    data.rows.push_back(std::move(row));
  }
  data.recurrent_share = data.law.recurrent_share;
  if (!std::isfinite(data.recurrent_share)) data.recurrent_share = median(shares);
}

std::string forward_name(double loops) { return fmt::format("T = {:g}", loops); }

void make_cells(LawData& data) {
  std::set<std::pair<double, double>> pairs;
  for (auto& row : data.rows) {
    if (!(row.loops >= 1)) row.loops = 1;
    if (!(row.backward_loops >= 1)) row.backward_loops = row.loops;
    pairs.emplace(row.loops, row.backward_loops);
    data.truncates = data.truncates || row.backward_loops < row.loops;
  }
  data.loops_vary = pairs.size() > 1;
  for (const auto& [loops, backward] : pairs) {
    const auto group = forward_name(loops);
    if (data.groups.empty() || data.groups.back() != group) data.groups.push_back(group);
    data.cells.push_back({.loops = loops,
                          .backward_loops = backward,
                          .name = data.cell_name(loops, backward),
                          .group = group});
  }
  for (auto& row : data.rows) {
    const auto place = std::distance(pairs.begin(), pairs.find({row.loops, row.backward_loops}));
    row.cell = static_cast<std::size_t>(place);
    ++(row.held_out ? data.cells[row.cell].held_out : data.cells[row.cell].fitted);
  }
}

/// Sets the budget and the range of the fitted rows.
void find_budget(LawData& data, double flops) {
  std::vector<double> budgets;
  for (const auto& row : data.rows)
    if (!row.held_out && row.flops > 0) budgets.push_back(row.flops);
  data.least_flops = budgets.empty() ? data.law.smallest("flops")
                                     : *std::min_element(budgets.begin(), budgets.end());
  data.most_flops = budgets.empty() ? data.law.largest("flops")
                                    : *std::max_element(budgets.begin(), budgets.end());
  if (flops > 0) {
    data.budget = flops;
    data.budget_from = "as asked for";
  } else if (!budgets.empty()) {
    std::erase_if(budgets, [&](double value) { return value < data.most_flops / 10; });
    data.budget = median(budgets);
    data.budget_from = "the median of the largest tenfold of compute that was fitted";
  } else if (data.most_flops > 0) {
    data.budget = data.most_flops;
    data.budget_from = "the largest that was fitted";
  }
  if (data.budget > 0 && !(data.most_flops > 0)) data.least_flops = data.most_flops = data.budget;
}

/// Makes the law a function, or says why it is none that a budget can be spent under.
void make_function(LawData& data) {
  const auto& form = data.law.form;
  std::vector<std::string> unknown;
  for (std::size_t i = 0; i < form.parameters.size(); ++i)
    if (!std::isfinite(data.law.parameters[i])) unknown.push_back(form.parameters[i].name);
  if (!unknown.empty()) {
    data.why_no_function = fmt::format(
        "The data do not determine {}, so the law says nothing about settings beyond the rows it "
        "was fitted to. Fit it with more varied runs, or hold a parameter with --fix.",
        join(unknown, ", "));
  } else if (!form.uses("tokens") || (!form.uses("n_once") && !form.uses("n_rec"))) {
    data.why_no_function =
        "The law does not weigh size against data, so no budget can be divided between them.";
  } else if (form.uses("loops") && !(data.recurrent_share > 0 && data.recurrent_share <= 1)) {
    data.why_no_function =
        "The fit does not say which share of the parameters is recurrent, so the cost of loops is "
        "not known.";
  } else {
    try {
      data.function.emplace(form, data.law.parameters);
    } catch (const Error& error) {
      data.why_no_function = fmt::format("{}.", error.what());
    }
  }
  if (!(data.recurrent_share >= 0 && data.recurrent_share <= 1)) data.recurrent_share = 0;
}

}  // namespace

const LawCell* LawData::cell(double loops, double backward_loops) const {
  for (const auto& one : cells)
    if (one.loops == loops && one.backward_loops == backward_loops) return &one;
  return nullptr;
}

std::string LawData::cell_name(double loops, double backward_loops) const {
  return truncates || law.form.uses("backward_loops")
             ? fmt::format("T {:g}, B {:g}", loops, backward_loops)
             : fmt::format("T {:g}", loops);
}

LawData read_law_data(const Json& json, FittedLaw law, double flops) {
  LawData data;
  data.law = std::move(law);
  const DataReader reader(json, data.law.path);
  read_rows(reader, data);
  make_cells(data);
  find_budget(data, flops);
  make_function(data);
  return data;
}

std::vector<std::size_t> every_row(const LawData& data) {
  std::vector<std::size_t> places(data.rows.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  return places;
}

std::vector<std::size_t> rows_to_draw(const LawData& data) {
  auto order = every_row(data);
  if (order.size() <= kMostMarks) return order;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(data.rows[a].residual()) > std::abs(data.rows[b].residual());
  });
  std::vector<std::size_t> drawn(order.begin(), order.begin() + std::ptrdiff_t{kOutliers});
  std::vector<std::size_t> others(order.begin() + std::ptrdiff_t{kOutliers}, order.end());
  std::sort(others.begin(), others.end());
  const std::size_t wanted = kMostMarks - kOutliers;
  for (std::size_t i = 0; i < wanted; ++i) drawn.push_back(others[i * others.size() / wanted]);
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

std::string drawn_words(const LawData& data) {
  if (data.rows.size() <= kMostMarks) return "";
  return fmt::format(
      " Of {} rows {} are drawn: the {} with the largest residuals and an even share of the "
      "others.",
      data.rows.size(), kMostMarks, kOutliers);
}

}  // namespace rondo
