// Accuracy over the length of a task's examples: what holds beyond the lengths trained on.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/statistics.h"
#include "base/text.h"
#include "report/chart_parts.h"

namespace rondo {
namespace {

/// Factor by which the shaded lengths reach beyond their ends on the logarithmic axis.
constexpr double kAir = 1.04;
/// Groups that are named in words at most.
constexpr std::size_t kNamed = 4;

/// One number per seed at a length.
struct AtLength {
  std::vector<double> values;
  bool trained = false;
};

class LengthSweep {
 public:
  explicit LengthSweep(const RunTable& table) : table_(table) {
    data_.columns = {"group", "run", "metric", "length", "kind",
                     "value", "low", "high",   "sd",     "seeds"};
    for (const auto& group : table.groups) add_group(group);
    if (tasks_.size() == 1) add_levels();
  }

  std::optional<Chart> chart() {
    if (lengths_.size() < 2) return std::nullopt;
    return Chart{.name = "length",
                 .title = "Accuracy over length",
                 .how_to_read = how_to_read(),
                 .spec = spec().dump(),
                 .data = data_,
                 .legend = group_legend(table_),
                 .can_focus = table_.groups.size() > 1};
  }

 private:
  void add_group(const RunGroup& group) {
    std::map<std::pair<std::string, std::int64_t>, AtLength> all;
    for (const auto i : group.runs) {
      const RunRecord& run = table_.runs[i];
      if (!in_chart(group, run) || run.summary.length_sweep.empty()) continue;
      tasks_.insert(run.config ? run.config->data.task : std::string());
      for (const auto& point : run.summary.length_sweep) {
        if (!point.metric.starts_with("accuracy") || !std::isfinite(point.value)) continue;
        auto& here = all[{point.metric, point.length}];
        here.values.push_back(point.value);
        here.trained = point.trained;
        lengths_.insert(point.length);
        metrics_.insert(point.metric);
        levels_[{point.metric, point.length}] = {point.chance, point.majority};
        if (point.trained) longest_trained_ = std::max(longest_trained_, point.length);
        add(group.name, table_.names[i], point.metric, point.length, "seed", {point.value});
      }
    }
    for (const auto& [key, here] : all) {
      seeds_ = std::max(seeds_, here.values.size());
      const auto [low, high] = std::minmax_element(here.values.begin(), here.values.end());
      if (key.first == "accuracy") longest_[group.name] = mean(here.values);
      add(group.name, "", key.first, key.second, here.trained ? "mean, trained" : "mean",
          {mean(here.values), *low, *high, sample_sd(here.values),
           static_cast<double>(here.values.size())});
    }
  }

  /// What answers without knowledge of the input score; equal for all groups.
  void add_levels() {
    for (const auto& [key, level] : levels_) {
      add("", "", key.first, key.second, "chance", {level.first});
      add("", "", key.first, key.second, "majority", {level.second});
    }
  }

  void add(const std::string& group, const std::string& run, const std::string& metric,
           std::int64_t length, const char* kind, std::vector<double> numbers) {
    numbers.resize(5, kNotRecorded);
    std::vector<Cell> row = {group, run, metric, static_cast<double>(length), std::string(kind)};
    for (const double number : numbers) row.emplace_back(number);
    data_.rows.push_back(std::move(row));
  }

  [[nodiscard]] Json x_axis() const {
    const auto first = static_cast<double>(*lengths_.begin());
    const auto last = static_cast<double>(*lengths_.rbegin());
    // Labels that would touch on a phone are left out.
    Json ticks = Json::array();
    double shown = 0;
    for (const auto length : lengths_) {
      const auto at = static_cast<double>(length);
      if (shown > 0 && at / shown < std::pow(last / first, 0.085)) continue;
      ticks.push_back(length);
      shown = at;
    }
    return {
        {"field", "length"},
        {"type", "quantitative"},
        {"title", "length of the examples"},
        {"axis", {{"values", ticks}, {"format", "d"}, {"tickCount", 100}}},
        {"scale",
         {{"type", "log"}, {"base", 2}, {"nice", false}, {"domain", {first / kAir, last * kAir}}}}};
  }

  [[nodiscard]] static Json y_axis(const char* field) {
    return {{"field", field},
            {"type", "quantitative"},
            {"title", "accuracy"},
            {"axis", {{"format", ".0%"}}},
            {"scale", {{"domain", {0, 1}}}}};
  }

  /// Rows of some kinds, of the metric that the reader has chosen.
  [[nodiscard]] static Json only(const std::string& condition) {
    return {{{"filter", "datum.metric == metric && (" + condition + ")"}}};
  }

  void add_trained(Json& layers) const {
    const auto first = static_cast<double>(*lengths_.begin());
    const auto last = static_cast<double>(longest_trained_);
    if (longest_trained_ == 0) return;
    auto from = x_axis();
    from["field"] = "from";
    layers.push_back({{"data", {{"values", {{{"from", first / kAir}, {"to", last * kAir}}}}}},
                      {"mark", {{"type", "rect"}, {"fill", "var(--shade)"}}},
                      {"encoding", {{"x", from}, {"x2", {{"field", "to"}}}}}});
  }

  void add_level_lines(Json& layers) const {
    if (tasks_.size() != 1) return;
    for (const char* kind : {"chance", "majority"})
      layers.push_back(
          {{"transform", only(fmt::format("datum.kind == '{}'", kind))},
           {"mark",
            {{"type", "line"},
             {"strokeWidth", 1.2},
             {"color", "var(--ink-3)"},
             {"strokeDash", std::string_view(kind) == "chance" ? Json{2, 3} : Json{7, 4}}}},
           {"encoding", {{"x", x_axis()}, {"y", y_axis("value")}}}});
  }

  [[nodiscard]] Json layers() const {
    const Json colour = group_colour(table_);
    const Json number = {{"field", "value"}, {"type", "quantitative"}, {"format", ".1%"}};
    const Json length = {{"field", "length"}, {"type", "quantitative"}};
    const std::string mean = "datum.kind == 'mean' || datum.kind == 'mean, trained'";
    Json list = Json::array();
    add_trained(list);
    add_level_lines(list);
    if (seeds_ > 1)
      list.push_back({{"transform", only("datum.kind == 'seed'")},
                      {"mark", {{"type", "line"}, {"strokeWidth", 0.9}}},
                      {"encoding",
                       {{"x", x_axis()},
                        {"y", y_axis("value")},
                        {"color", colour},
                        {"detail", {{"field", "run"}, {"type", "nominal"}}},
                        {"opacity", focus_opacity(0.35, 0.05)}}}});
    list.push_back({{"transform", only(mean)},
                    {"mark", {{"type", "line"}}},
                    {"encoding",
                     {{"x", x_axis()},
                      {"y", y_axis("value")},
                      {"color", colour},
                      {"opacity", focus_opacity()}}}});
    Json tip = {{{"field", "group"}}, length, number};
    if (seeds_ > 1)
      for (const char* key : {"sd", "low", "high"})
        tip.push_back({{"field", key}, {"type", "quantitative"}, {"format", ".1%"}});
    list.push_back({{"transform", only(mean)},
                    {"mark", {{"type", "point"}, {"filled", false}}},
                    {"encoding",
                     {{"x", x_axis()},
                      {"y", y_axis("value")},
                      {"stroke", colour},
                      {"fill",
                       {{"condition",
                         {{"test", "datum.kind == 'mean, trained'"},
                          {"field", "group"},
                          {"type", "nominal"},
                          {"scale", colour["scale"]}}},
                        {"value", "var(--paper)"}}},
                      {"shape", group_shape(table_)},
                      {"opacity", focus_opacity()},
                      {"tooltip", tip}}}});
    return list;
  }

  [[nodiscard]] Json spec() const {
    Json out = frame(data_, 320);
    Json metric = {{"name", "metric"}, {"value", "accuracy"}};
    if (metrics_.size() > 1) {
      Json labels = Json::array();
      for (const auto& name : metrics_)
        labels.push_back(name == "accuracy"          ? "as the task counts"
                         : name == "accuracy_prefix" ? "of all answers"
                                                     : "of whole examples");
      metric["bind"] = {
          {"input", "select"}, {"options", metrics_}, {"labels", labels}, {"name", "accuracy "}};
    }
    out["params"] = Json::array({focus_parameter(), metric});
    out["layer"] = layers();
    return out;
  }

  [[nodiscard]] std::string how_to_read() const {
    std::string text =
        "Share of right answers of the checkpoint with the lowest validation loss, on test "
        "examples "
        "of each length.";
    if (longest_trained_ > 0)
      text += " Filled marks and the shaded band: lengths trained on; hollow marks: longer ones.";
    if (seeds_ > 1) text += " Thick lines: means; thin lines: every seed.";
    if (tasks_.size() == 1) {
      text += " Dotted: guessing; dashed: always the most frequent answer." + what_one_sees();
    } else {
      text += " The runs have different tasks, whose levels of guessing differ.";
    }
    return text;
  }

  /// The groups at the longest length, in words: few enough to be read.
  [[nodiscard]] std::string what_one_sees() const {
    if (longest_trained_ == 0 || *lengths_.rbegin() <= longest_trained_) return {};
    std::string means;
    std::size_t groups = 0;
    for (const auto& group : table_.groups) {
      const auto found = longest_.find(group.name);
      if (found == longest_.end()) continue;
      means +=
          fmt::format("{}{} {:.0f} %", groups++ == 0 ? "" : ", ", group.name, 100 * found->second);
    }
    const auto level = levels_.find({"accuracy", *lengths_.rbegin()});
    if (groups == 0 || groups > kNamed || level == levels_.end()) return {};
    return fmt::format(" At length {}, where {} was the longest trained on: {}; guessing {:.0f} %.",
                       *lengths_.rbegin(), longest_trained_, means, 100 * level->second.first);
  }

  const RunTable& table_;
  DataTable data_;
  std::map<std::string, double> longest_;  ///< accuracy of a group at its longest length
  std::set<std::int64_t> lengths_;
  std::set<std::string> metrics_, tasks_;
  std::map<std::pair<std::string, std::int64_t>, std::pair<double, double>> levels_;
  std::int64_t longest_trained_ = 0;
  std::size_t seeds_ = 0;
};

}  // namespace

std::optional<Chart> length_chart(const RunTable& table) { return LengthSweep(table).chart(); }

}  // namespace rondo
