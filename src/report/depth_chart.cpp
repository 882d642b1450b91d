// The depth sweep: what happens when a model runs more or fewer loops than it was trained with.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/statistics.h"
#include "base/text.h"
#include "record/field_names.h"
#include "report/chart_parts.h"

namespace rondo {
namespace {

/// A range of trained loops.
using LoopRange = std::pair<double, double>;

/// Factor by which a shaded range reaches beyond its ends on the logarithmic axis, so that a single
/// trained number of loops is a visible band.
constexpr double kMargin = 1.09;
/// Values further apart than this factor get a logarithmic axis: a sweep may explode.
constexpr double kLogFrom = 3;
/// Bars of trained loops along the top, in pixels.
constexpr double kBarHeight = 4, kBarPitch = 6;

class DepthSweep {
 public:
  explicit DepthSweep(const RunTable& table) : table_(table), metric_(sweep_metric()) {
    data_.columns = {"group", "loops", "mean", "low", "high", "runs", "stderr", "trained", "kind"};
    for (const auto& group : table.groups) add_group(group);
  }

  std::optional<Chart> chart() {
    if (loops_.size() < 2) return std::nullopt;
    Chart chart{.name = "depth",
                .title = "Depth sweep",
                .how_to_read = how_to_read(),
                .spec = spec().dump(),
                .data = data_,
                .legend = group_legend(table_),
                .can_focus = table_.groups.size() > 1};
    return chart;
  }

 private:
  [[nodiscard]] Metric sweep_metric() const {
    for (const Metric metric : {Metric::kBitsPerByte, Metric::kAccuracy}) {
      bool any = false, all = true;
      for (const auto& run : table_.runs)
        for (const auto& point : run.depth_sweep()) {
          const bool has = std::isfinite(value_of(metric, point));
          any = any || has;
          // A run may leave the finite numbers at a depth that it was not trained for.
          all = all && (has || !std::isfinite(point.loss_nats));
        }
      if (any && all) return metric;
    }
    return Metric::kLoss;
  }

  /// Values of one group at one depth.
  struct Values {
    std::vector<double> of_runs;
    double error = kNotRecorded;  ///< standard error of the last one, in its unit
  };

  void add_group(const RunGroup& group) {
    std::map<std::int64_t, Values> values;
    LoopRange trained{kNotRecorded, kNotRecorded};
    for (const auto i : group.runs) {
      const RunRecord& run = table_.runs[i];
      if (!in_chart(group, run)) continue;
      trained.first = std::fmin(trained.first, run.summary.trained_loops_min);
      trained.second = std::fmax(trained.second, run.summary.trained_loops_max);
      for (const auto& point : run.depth_sweep()) {
        const double value = value_of(metric_, point);
        if (point.loops < 1 || !std::isfinite(value)) {
          lost_.insert(fmt::format("{} at {}", group.name, point.loops));
          continue;
        }
        auto& here = values[point.loops];
        here.of_runs.push_back(value);
        // The error is recorded in nats; the ratio of the two units is the same for all depths.
        if (metric_ != Metric::kAccuracy) here.error = point.stderr_nats * value / point.loss_nats;
      }
    }
    if (values.empty()) return;
    const bool level = values.size() == 1;
    if (!level && trained.first >= 1 && trained.second >= trained.first)
      ranges_.emplace_back(group.name, trained);
    double best = kNotRecorded;
    for (const auto& [loops, here] : values) {
      const auto [lowest, highest] = std::minmax_element(here.of_runs.begin(), here.of_runs.end());
      const double low = *lowest, high = *highest;
      const auto r = static_cast<double>(loops);
      const bool inside = r >= trained.first && r <= trained.second;
      data_.rows.push_back(
          {group.name, r, mean(here.of_runs), low, high, static_cast<double>(here.of_runs.size()),
           here.error, std::string(inside ? "yes" : "no"), std::string(level ? "level" : "sweep")});
      if (!level) loops_.insert(loops);
      low_ = std::fmin(low_, low);
      high_ = std::fmax(high_, high);
      seeds_ = std::max(seeds_, here.of_runs.size());
      error_ = std::fmax(error_, here.error);
      levels_ = levels_ || level;
      best = std::fmin(best, high);
    }
    worst_best_ = std::fmax(worst_best_, best);
  }

  [[nodiscard]] bool one_range() const {
    return std::all_of(ranges_.begin(), ranges_.end(),
                       [&](const auto& range) { return range.second == ranges_.front().second; });
  }

  /// The loops seen in training: a band behind the lines when all groups were trained alike, else
  /// a bar along the top for each group, as bands would cover each other.
  void add_trained(Json& layers) const {
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      const auto& [group, range] = ranges_[i];
      const LoopRange shown = with_margin(range);
      const Json values = {{"group", group},
                           {"from", shown.first},
                           {"to", shown.second},
                           {"min", range.first},
                           {"max", range.second}};
      Json layer = {{"data", {{"values", Json::array({values})}}},
                    {"mark", {{"type", "rect"}}},
                    {"encoding",
                     {{"x", x_axis("from")}, {"x2", {{"field", "to"}}}, {"tooltip", range_tip()}}}};
      if (one_range()) {
        layer["mark"]["fill"] = "var(--shade)";
        layers.push_back(layer);
        return;
      }
      layer["mark"]["y"] = kBarPitch * static_cast<double>(i);
      layer["mark"]["height"] = kBarHeight;
      layer["encoding"]["color"] = group_colour(table_);
      layer["encoding"]["opacity"] = focus_opacity(0.8);
      layers.push_back(layer);
    }
  }

  /// The range a little wider, but not as far as a measured depth outside it.
  [[nodiscard]] LoopRange with_margin(const LoopRange& range) const {
    LoopRange out{range.first / kMargin, range.second * kMargin};
    for (const auto measured : loops_) {
      const auto r = static_cast<double>(measured);
      if (r < range.first) out.first = std::max(out.first, std::sqrt(r * range.first));
      if (r > range.second) out.second = std::min(out.second, std::sqrt(r * range.second));
    }
    return out;
  }

  [[nodiscard]] static Json range_tip() {
    return Json::array({{{"field", "group"}},
                        {{"field", "min"}, {"title", "trained from"}},
                        {{"field", "max"}, {"title", "to loops"}}});
  }

  /// Measured depths that fit side by side on a phone; powers of two come first, then 3, 6, 12, ….
  [[nodiscard]] std::set<std::int64_t> ticks() const {
    const auto octave = [](std::int64_t loops) { return std::log2(static_cast<double>(loops)); };
    const double apart = (octave(*loops_.rbegin()) - octave(*loops_.begin())) / 10;
    const auto rank = [](std::int64_t loops) {
      while (loops % 2 == 0) loops /= 2;
      return loops == 1 ? 0 : loops == 3 ? 1 : 2;
    };
    std::set<std::int64_t> chosen;
    for (const int wanted : {0, 1, 2})
      for (const auto loops : loops_)
        if (rank(loops) == wanted && std::all_of(chosen.begin(), chosen.end(), [&](auto other) {
              return std::abs(octave(other) - octave(loops)) >= apart;
            }))
          chosen.insert(loops);
    return chosen;
  }

  [[nodiscard]] Json x_axis(const char* field) const {
    double first = static_cast<double>(*loops_.begin());
    double last = static_cast<double>(*loops_.rbegin());
    for (const auto& [group, range] : ranges_) {
      first = std::min(first, range.first);
      last = std::max(last, range.second);
    }
    // A logarithmic axis leaves out labels beyond its tickCount, even of given values.
    return {{"field", field},
            {"type", "quantitative"},
            {"title", "loops at inference"},
            {"axis",
             {{"values", ticks()}, {"format", "d"}, {"labelOverlap", false}, {"tickCount", 100}}},
            {"scale",
             {{"type", "log"},
              {"base", 2},
              {"nice", false},
              {"domain", {first / kMargin, last * kMargin}}}}};
  }

  [[nodiscard]] Json y_axis(const char* field) const {
    std::string key(metric_ == Metric::kLoss ? "validation_loss_nats" : key_of(metric_));
    Json axis = number_axis(field, field_name(key).label());
    if (low_ > 0 && high_ / low_ > kLogFrom && metric_ != Metric::kAccuracy) set_logarithmic(axis);
    axis["scale"]["padding"] = 10;
    if (zooms()) {
      const double air = 0.02 * (worst_best_ - low_) + 0.01 * std::abs(low_);
      axis["scale"]["domainMax"] = {
          {"expr", fmt::format("show == 'best' ? {} : {}", worst_best_ + 4 * air, high_)}};
    }
    return axis;
  }

  /// 1, 2 and 5 in every decade: the usual ticks of a logarithmic axis would fill it with lines.
  void set_logarithmic(Json& axis) const {
    axis["scale"]["type"] = "log";
    Json ticks = Json::array();
    const auto decade_of = [](double value) {
      return static_cast<int>(std::floor(std::log10(value)));
    };
    for (int decade = decade_of(low_); decade <= decade_of(high_); ++decade)
      for (const double leading : {1.0, 2.0, 5.0})
        if (const double tick = leading * std::pow(10.0, decade); tick >= low_ && tick <= high_)
          ticks.push_back(tick);
    axis["axis"] = {{"values", ticks}, {"tickCount", 100}};
  }

  /// Whether far depths squeeze what happens near the best ones, so that a closer look is offered.
  [[nodiscard]] bool zooms() const {
    return metric_ != Metric::kAccuracy && high_ - low_ > 3 * (worst_best_ - low_ + 0.01 * low_);
  }

  [[nodiscard]] static Json only(const char* kind) {
    return {{{"filter", fmt::format("datum.kind == '{}'", kind)}}};
  }

  [[nodiscard]] Json tooltip() const {
    Json fields = {{{"field", "group"}},
                   {{"field", "loops"}, {"type", "quantitative"}},
                   {{"field", "mean"}, {"type", "quantitative"}, {"format", ".4f"}}};
    if (seeds_ > 1)
      for (const char* key : {"low", "high"})
        fields.push_back({{"field", key}, {"type", "quantitative"}, {"format", ".4f"}});
    return fields;
  }

  [[nodiscard]] Json layers() const {
    const Json colour = group_colour(table_);
    Json list = Json::array();
    add_trained(list);
    list.push_back({{"transform", only("level")},
                    {"mark", {{"type", "rule"}, {"strokeDash", {6, 4}}, {"strokeWidth", 1.6}}},
                    {"encoding",
                     {{"y", y_axis("mean")},
                      {"color", colour},
                      {"opacity", focus_opacity()},
                      {"tooltip", tooltip()}}}});
    if (seeds_ > 1)
      list.push_back({{"transform", only("sweep")},
                      {"mark", {{"type", "area"}, {"clip", true}}},
                      {"encoding",
                       {{"x", x_axis("loops")},
                        {"y", y_axis("low")},
                        {"y2", {{"field", "high"}}},
                        {"color", colour},
                        {"opacity", focus_opacity(0.16, 0.03)}}}});
    list.push_back({{"transform", only("sweep")},
                    {"mark", {{"type", "line"}, {"clip", true}}},
                    {"encoding",
                     {{"x", x_axis("loops")},
                      {"y", y_axis("mean")},
                      {"color", colour},
                      {"opacity", focus_opacity()}}}});
    list.push_back(points(colour));
    return list;
  }

  /// Filled where the model was trained, hollow beyond.
  [[nodiscard]] Json points(const Json& colour) const {
    return {{"transform", only("sweep")},
            {"mark", {{"type", "point"}, {"filled", false}, {"clip", true}}},
            {"encoding",
             {{"x", x_axis("loops")},
              {"y", y_axis("mean")},
              {"stroke", colour},
              {"fill",
               {{"condition",
                 {{"test", "datum.trained == 'yes'"},
                  {"field", "group"},
                  {"type", "nominal"},
                  {"scale", colour["scale"]}}},
                {"value", "var(--paper)"}}},
              {"shape", group_shape(table_)},
              {"opacity", focus_opacity()},
              {"tooltip", tooltip()}}}};
  }

  [[nodiscard]] Json spec() const {
    Json out = frame(data_, 320);
    out["params"] = Json::array({focus_parameter()});
    if (zooms())
      out["params"].push_back({{"name", "show"},
                               {"value", "all"},
                               {"bind",
                                {{"input", "select"},
                                 {"options", {"all", "best"}},
                                 {"labels", {"everything", "the best values"}},
                                 {"name", "show "}}}});
    out["layer"] = layers();
    return out;
  }

  [[nodiscard]] std::string how_to_read() const {
    std::string text =
        "How well the same weights do when they run more or fewer loops. Filled marks";
    if (!ranges_.empty()) text += one_range() ? " and the shaded band" : " and bars along the top";
    text += ": loops seen in training; hollow marks: extrapolation";
    if (seeds_ > 1) text += "; bands: lowest to highest seed";
    if (levels_) text += "; dashed lines: groups without a loop to vary";
    text += ".";
    if (std::isfinite(error_))
      text += fmt::format(
          " The finite validation data leave every value uncertain by about {:.2g} (standard "
          "error); as all depths read the same data, differences between depths are surer.",
          error_);
    if (!lost_.empty())
      text += fmt::format(" Without a finite value, and therefore missing: {}.",
                          join(std::vector<std::string>(lost_.begin(), lost_.end()), ", "));
    return text;
  }

  const RunTable& table_;
  Metric metric_;
  DataTable data_;
  std::vector<std::pair<std::string, LoopRange>> ranges_;
  std::set<std::int64_t> loops_;
  double low_ = kNotRecorded, high_ = kNotRecorded;
  double worst_best_ = kNotRecorded;  ///< of the groups' best values, the worst
  std::set<std::string> lost_;        ///< depths that gave no number
  double error_ = kNotRecorded;       ///< the largest standard error
  std::size_t seeds_ = 0;
  bool levels_ = false;
};

}  // namespace

std::optional<Chart> depth_chart(const RunTable& table) { return DepthSweep(table).chart(); }

}  // namespace rondo
