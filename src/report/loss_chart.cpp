// Loss against what it cost: tokens, FLOPs or seconds.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "record/field_names.h"
#include "report/chart_parts.h"
#include "report/theme.h"

namespace rondo {
namespace {

/// Training points per run in a page of one run, and of many.
constexpr std::size_t kPointsAlone = 400, kPointsEach = 150;
/// The first share of a run is left out of the y range: its fall would flatten all that follows.
constexpr double kWarmUp = 0.1;

constexpr const char* kTraining = "training";
constexpr const char* kValidation = "validation";

/// A number on each axis that the reader can choose.
struct Place {
  double step = 0, tokens = kNotRecorded, flops = kNotRecorded, seconds = kNotRecorded;
};

/// Time spent in steps up to each recorded step. Records may hold every n-th step only; a step's
/// time then stands for the steps before it.
std::vector<Place> places(const RunRecord& run) {
  std::vector<Place> out;
  double seconds = 0, last_step = 0;
  for (const auto& event : run.steps) {
    const auto step = static_cast<double>(event.step);
    seconds += event.step_time_s * std::max(0.0, step - last_step);
    last_step = step;
    out.push_back({step, event.tokens, event.flops, seconds});
  }
  return out;
}

class LossCurves {
 public:
  explicit LossCurves(const RunTable& table) : table_(table) {
    alone_ = table.groups.size() == 1;
    bits_ = !alone_ && std::all_of(table.runs.begin(), table.runs.end(), [](const auto& run) {
      return std::all_of(run.validations.begin(), run.validations.end(),
                         [](const auto& event) { return std::isfinite(event.bits_per_byte); });
    });
    data_.columns = {"group", "run", "curve", "step", "tokens", "flops", "seconds", "value"};
    for (const auto& group : table.groups)
      for (const auto i : group.runs) add_run(group, i);
  }

  std::optional<Chart> chart() {
    if (training_ == 0 && validation_ == 0) return std::nullopt;
    choose_time_unit();
    Chart chart{.name = "loss",
                .title = "Loss while training",
                .how_to_read = how_to_read(),
                .spec = "",
                .data = data_,
                .legend = alone_ ? curve_legend() : group_legend(table_),
                .can_focus = !alone_};
    chart.spec = spec().dump();
    return chart;
  }

 private:
  void add_run(const RunGroup& group, std::size_t i) {
    const RunRecord& run = table_.runs[i];
    const std::vector<Place> at = places(run);
    add_training(group.name, i, at);
    for (const auto& event : run.validations) {
      const double value = bits_ ? event.bits_per_byte : event.validation_loss_nats;
      if (!std::isfinite(value)) continue;
      const auto step = static_cast<double>(event.step);
      const auto next = std::upper_bound(at.begin(), at.end(), step,
                                         [](double s, const Place& p) { return s < p.step; });
      const double seconds = next == at.begin() ? 0 : std::prev(next)->seconds;
      add(group.name, i, kValidation, {step, event.tokens, event.flops, seconds}, value);
      ++validation_;
    }
  }

  /// Means over equal numbers of steps, so that a long run stays a light page.
  void add_training(const std::string& group, std::size_t i, const std::vector<Place>& at) {
    const auto& steps = table_.runs[i].steps;
    const std::size_t points = alone_ && table_.runs.size() == 1 ? kPointsAlone : kPointsEach;
    const std::size_t width = std::max<std::size_t>(1, (steps.size() + points - 1) / points);
    averaged_ = std::max(averaged_, width);
    for (std::size_t first = 0; first < steps.size(); first += width) {
      const std::size_t end = std::min(first + width, steps.size());
      double sum = 0;
      std::size_t count = 0;
      for (std::size_t j = first; j < end; ++j)
        if (std::isfinite(steps[j].train_loss_nats)) {
          sum += steps[j].train_loss_nats;
          ++count;
        }
      if (count == 0) continue;
      add(group, i, kTraining, at[end - 1], sum / static_cast<double>(count));
      ++training_;
    }
  }

  void add(const std::string& group, std::size_t i, const char* curve, const Place& at,
           double value) {
    data_.rows.push_back({group, table_.names[i], std::string(curve), at.step, at.tokens, at.flops,
                          at.seconds, value});
  }

  [[nodiscard]] double number(const std::vector<Cell>& row, std::size_t column) const {
    return std::get<double>(row[column]);
  }

  /// Seconds become minutes or hours, whichever keeps the axis readable.
  void choose_time_unit() {
    double longest = 0;
    for (const auto& row : data_.rows) longest = std::fmax(longest, number(row, 6));
    const double unit = longest > 7200 ? 3600 : longest > 180 ? 60 : 1;
    time_column_ = unit == 3600 ? "hours" : unit == 60 ? "minutes" : "seconds";
    data_.columns[6] = time_column_;
    for (auto& row : data_.rows) std::get<double>(row[6]) /= unit;
  }

  /// Smallest and largest value after the warm-up, with a little air.
  [[nodiscard]] std::pair<double, double> range(std::string_view curve) const {
    double last = 0, low = kNotRecorded, high = kNotRecorded;
    for (const auto& row : data_.rows) last = std::max(last, number(row, 3));
    for (const auto& row : data_.rows) {
      if (std::get<std::string>(row[2]) != curve) continue;
      low = std::fmin(low, number(row, 7));
      if (last == 0 || number(row, 3) > kWarmUp * last) high = std::fmax(high, number(row, 7));
    }
    const double air = 0.05 * (high - low) + 1e-3 * std::abs(high);
    return {low - air, high + air};
  }

  [[nodiscard]] std::string value_title(bool validation) const {
    if (alone_) return "loss (nats/token)";
    if (!validation) return field_name("train_loss_nats").label();
    return field_name(bits_ ? "bits_per_byte" : "validation_loss_nats").label();
  }

  [[nodiscard]] Json x_axis() const {
    const std::string titles = fmt::format(
        "{{tokens:'{}',flops:'{}',{}:'training time ({})'}}[x_axis]", field_name("tokens").title,
        field_name("flops").title, time_column_, time_column_);
    return {{"field", "x"},
            {"type", "quantitative"},
            {"axis", {{"title", {{"signal", titles}}}, {"format", "~s"}}},
            {"scale", {{"nice", false}, {"padding", 6}}}};
  }

  [[nodiscard]] Json y_axis() const {
    const auto [train_low, train_high] = range(kTraining);
    const auto [low, high] = range(kValidation);
    Json axis = number_axis("value", value_title(true));
    if (alone_) {
      axis["scale"]["domainMin"] = std::fmin(low, train_low);
      axis["scale"]["domainMax"] = std::fmax(high, train_high);
      return axis;
    }
    const auto choose = [](const std::string& validation, const std::string& training) {
      return fmt::format("curve == '{}' ? {} : {}", kValidation, validation, training);
    };
    const auto text = [](double value) {
      return std::isfinite(value) ? fmt::format("{}", value) : std::string("0");
    };
    axis.erase("title");
    axis["axis"] = {
        {"title",
         {{"signal", choose("'" + value_title(true) + "'", "'" + value_title(false) + "'")}}}};
    axis["scale"]["domainMin"] = {{"expr", choose(text(low), text(train_low))}};
    axis["scale"]["domainMax"] = {{"expr", choose(text(high), text(train_high))}};
    return axis;
  }

  [[nodiscard]] Json parameters() const {
    Json list = Json::array();
    list.push_back({{"name", "x_axis"},
                    {"value", "tokens"},
                    {"bind",
                     {{"input", "select"},
                      {"options", {"tokens", "flops", time_column_}},
                      {"labels", {"training tokens", "training FLOPs", "training time"}},
                      {"name", "against "}}}});
    if (alone_) return list;
    list.push_back({{"name", "curve"},
                    {"value", validation_ > table_.runs.size() ? kValidation : kTraining},
                    {"bind",
                     {{"input", "select"},
                      {"options", {kValidation, kTraining}},
                      {"labels", {"validation loss", "training loss"}},
                      {"name", "show "}}}});
    list.push_back(focus_parameter());
    return list;
  }

  [[nodiscard]] Json tooltip() const {
    Json fields = Json::array();
    for (const char* key : {"run", "curve"}) fields.push_back({{"field", key}});
    for (const char* key : {"step", "tokens", "flops"})
      fields.push_back({{"field", key}, {"type", "quantitative"}, {"format", "~s"}});
    fields.push_back({{"field", "value"}, {"type", "quantitative"}, {"format", ".4f"}});
    return fields;
  }

  [[nodiscard]] Json layers() const {
    if (!alone_)
      return Json::array({{{"mark", {{"type", "line"}, {"clip", true}}},
                           {"encoding",
                            {{"color", group_colour(table_)},
                             {"detail", {{"field", "run"}}},
                             {"tooltip", tooltip()},
                             {"opacity", focus_opacity()}}}}});
    const auto layer = [&](const char* curve, const Json& mark) -> Json {
      return {{"transform", {{{"filter", fmt::format("datum.curve == '{}'", curve)}}}},
              {"mark", mark},
              {"encoding", {{"detail", {{"field", "run"}}}, {"tooltip", tooltip()}}}};
    };
    return Json::array({layer(kTraining, {{"type", "line"},
                                          {"clip", true},
                                          {"stroke", "var(--ink-3)"},
                                          {"strokeWidth", 1},
                                          {"opacity", 0.75}}),
                        layer(kValidation, {{"type", "line"},
                                            {"clip", true},
                                            {"stroke", series_colour(0)},
                                            {"point",
                                             {{"fill", series_colour(0)},
                                              {"filled", true},
                                              {"size", validation_ > 60 ? 0 : 30}}}})});
  }

  [[nodiscard]] Json spec() const {
    Json out = frame(data_, 320);
    out["params"] = parameters();
    Json steps = Json::array();
    if (!alone_) steps.push_back({{"filter", "datum.curve == curve"}});
    steps.push_back({{"calculate", "datum[x_axis]"}, {"as", "x"}});
    out["transform"] = steps;
    out["encoding"] = {{"x", x_axis()}, {"y", y_axis()}};
    out["layer"] = layers();
    return out;
  }

  [[nodiscard]] std::vector<LegendEntry> curve_legend() const {
    std::vector<LegendEntry> legend;
    if (training_ > 0) legend.push_back({"training", "var(--ink-3)", ""});
    if (validation_ > 0) legend.push_back({"validation", series_colour(0), ""});
    return legend;
  }

  [[nodiscard]] std::string how_to_read() const {
    std::string text = "Lower is better; compare heights at the same place on the axis you pay for";
    text += alone_ ? ", and watch for a validation curve that turns up while training falls."
                   : " (tokens, FLOPs or time). One line per run.";
    if (averaged_ > 1 && training_ > 0)
      text += fmt::format(" A training point is the mean of {} steps.", averaged_);
    return text;
  }

  const RunTable& table_;
  DataTable data_;
  bool alone_ = false, bits_ = false;
  std::size_t training_ = 0, validation_ = 0, averaged_ = 1;
  std::string time_column_ = "seconds";
};

}  // namespace

std::optional<Chart> loss_chart(const RunTable& table) { return LossCurves(table).chart(); }

}  // namespace rondo
