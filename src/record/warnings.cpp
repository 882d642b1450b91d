// Where a comparison of groups is not a fair one, said with numbers.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "base/error.h"
#include "record/config_lines.h"
#include "record/table.h"

namespace rondo {
namespace {

/// Budgets closer than this count as equal: widths are whole numbers, so exact matches are rare.
constexpr double kTolerance = 0.02;

class Comparison {
 public:
  explicit Comparison(const RunTable& table) : table_(table) {}

  std::vector<std::string> warnings() {
    if (table_.groups.size() > 1) {
      budget("Training FLOPs", &RunGroup::flops);
      number("Parameters", [](const RunGroup& group) { return group.parameters.total; });
      budget("Training tokens", &RunGroup::tokens);
      number("Forward FLOPs per token",
             [](const RunGroup& group) { return group.flops_per_token_forward; });
      depth();
      settings();
      machines();
    }
    for (const auto& group : table_.groups) states(group);
    seeds();
    return std::move(out_);
  }

 private:
  using Get = std::function<double(const RunGroup&)>;

  /// A number that grows while a run goes is compared once the groups have finished.
  void budget(std::string_view what, double RunGroup::*field) {
    number(what,
           [&](const RunGroup& group) { return group.provisional ? kNotRecorded : group.*field; });
  }

  void number(std::string_view what, const Get& get) {
    const RunGroup *low = nullptr, *high = nullptr;
    for (const auto& group : table_.groups) {
      if (!std::isfinite(get(group))) continue;
      if (low == nullptr || get(group) < get(*low)) low = &group;
      if (high == nullptr || get(group) > get(*high)) high = &group;
    }
    if (low == nullptr) return;
    const double apart = get(*high) / get(*low) - 1;
    if (!(apart > kTolerance)) return;
    out_.push_back(fmt::format("{} are unequal: {} for {}, {} for {} ({}).", what, si(get(*low)),
                               low->name, si(get(*high)), high->name, apart_text(apart)));
  }

  static std::string apart_text(double apart) {
    return apart < 1 ? fmt::format("{:.0f} % more", 100 * apart)
                     : fmt::format("{:.3g} times as many", 1 + apart);
  }

  void depth() {
    const RunGroup *low = nullptr, *high = nullptr;
    for (const auto& group : table_.groups) {
      if (std::isnan(group.effective_depth)) continue;
      if (low == nullptr || group.effective_depth < low->effective_depth) low = &group;
      if (high == nullptr || group.effective_depth > high->effective_depth) high = &group;
    }
    if (low == nullptr || low->effective_depth == high->effective_depth) return;
    out_.push_back(
        fmt::format("Effective depth is unequal: a token passes {} layers in {}, {} in {}.",
                    low->effective_depth, low->name, high->effective_depth, high->name));
  }

  /// The distinct values of a config key, with the first group of each; empty unless they differ.
  [[nodiscard]] std::string distinct(const std::string& key) const {
    std::vector<std::pair<std::string, std::string>> seen;
    for (const auto& group : table_.groups) {
      const auto lines = config_lines(table_.runs[group.runs.front()].config_text);
      const auto line = std::find_if(lines.begin(), lines.end(),
                                     [&](const auto& entry) { return entry.first == key; });
      if (line == lines.end()) continue;
      const bool known = std::any_of(seen.begin(), seen.end(), [&](const auto& entry) {
        return entry.second == line->second;
      });
      if (!known) seen.emplace_back(group.name, line->second);
    }
    if (seen.size() < 2) return {};
    std::string text;
    for (const auto& [name, value] : seen)
      text += fmt::format("{}{} in {}", text.empty() ? "" : ", ", value, name);
    return text;
  }

  void settings() {
    if (const auto text = distinct("data.tokenizer"); !text.empty())
      out_.push_back(fmt::format(
          "Tokenizers differ ({}): losses in nats per token do not compare, bits per byte do.",
          text));
    data();
    for (const char* key :
         {"data.validation", "data.validation_tokens", "data.validation_seed",
          "data.sequence_length", "data.min_length", "data.max_length", "data.document_mask"})
      if (const auto text = distinct(key); !text.empty())
        out_.push_back(fmt::format("Validation differs: {} is {}.", key, text));
  }

  /// By the data's hash where every group has one: a folder may have moved.
  void data() {
    std::map<std::string, std::string> group_of;
    for (const auto& group : table_.groups)
      group_of.emplace(table_.runs[group.runs.front()].summary.data_sha256, group.name);
    if (!group_of.contains("")) {
      if (group_of.size() > 1)
        out_.push_back(fmt::format("Data differ: {} and {} have read other content.",
                                   group_of.begin()->second, std::next(group_of.begin())->second));
      return;
    }
    for (const char* key : {"data.source", "data.path", "data.task"})
      if (const auto text = distinct(key); !text.empty())
        out_.push_back(fmt::format("Data differ: {} is {}.", key, text));
  }

  void machines() {
    std::map<std::string, std::string> first_run;
    for (std::size_t i = 0; i < table_.runs.size(); ++i)
      if (const auto& machine = table_.runs[i].summary.machine; !machine.empty())
        first_run.emplace(machine, table_.names[i]);
    if (first_run.size() > 1)
      out_.push_back(fmt::format(
          "Runs come from {} different machines: their times do not compare.", first_run.size()));
  }

  void states(const RunGroup& group) {
    if (const auto lost = group.diverged + group.failed; lost > 0)
      out_.push_back(fmt::format("{}: {} of {} runs {} and {} not in the mean.", group.name, lost,
                                 group.runs.size(), group.failed == 0 ? "diverged" : "failed",
                                 lost == 1 ? "is" : "are"));
    if (group.provisional)
      out_.push_back(
          fmt::format("{}: no run has finished; its values are the last ones so far.", group.name));
    else if (group.running + group.interrupted > 0)
      out_.push_back(fmt::format("{}: {} of {} runs have not finished and are not in the mean.",
                                 group.name, group.running + group.interrupted, group.runs.size()));
  }

  void seeds() {
    std::vector<std::string> single;
    for (const auto& group : table_.groups) {
      if (group.runs.size() == 1) single.push_back(group.name);
      if (std::set<std::string>(group.seeds.begin(), group.seeds.end()).size() < group.seeds.size())
        out_.push_back(fmt::format(
            "{}: a seed occurs more than once; its runs are no independent trials.", group.name));
    }
    if (single.empty()) return;
    out_.push_back(fmt::format("One seed only for {}: the spread between seeds is unknown.",
                               join(single, ", ")));
  }

  const RunTable& table_;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> comparison_warnings(const RunTable& table) {
  return Comparison(table).warnings();
}

}  // namespace rondo
