// Norm of the loop state after each loop: whether the loop settles, grows or shrinks.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "record/field_names.h"
#include "report/chart_parts.h"
#include "report/theme.h"

namespace rondo {
namespace {

/// Steps around a moment that are averaged, as a share of the run: sampled loops differ from step
/// to step.
constexpr double kWindow = 0.05;

/// Moments of a run and what they are called.
constexpr std::array<std::pair<double, const char*>, kRamp> kMoments = {
    {{0.0, "start"}, {0.25, "at 25 %"}, {0.5, "at 50 %"}, {0.75, "at 75 %"}, {1.0, "end"}}};

/// Sum and count per loop.
using Sums = std::map<std::int64_t, std::pair<double, std::int64_t>>;

/// Adds the norms of the steps around `moment` (0 start, 1 end).
void add_norms(const RunRecord& run, double moment, Sums& sums) {
  std::vector<const StepEvent*> with_norms;
  for (const auto& event : run.steps)
    if (!event.state_norms.empty()) with_norms.push_back(&event);
  if (with_norms.empty()) return;
  const auto size = static_cast<double>(with_norms.size());
  const double width = std::max(1.0, kWindow * size);
  const auto first = static_cast<std::size_t>(moment * (size - width));
  for (std::size_t i = first; i < with_norms.size() && i < first + static_cast<std::size_t>(width);
       ++i) {
    const StepEvent& event = *with_norms[i];
    const auto count = static_cast<std::int64_t>(event.state_norms.size());
    // Some records begin with the state before the first loop.
    const std::int64_t start = static_cast<double>(count) == event.loops + 1 ? 0 : 1;
    for (std::int64_t j = 0; j < count; ++j) {
      const double norm = event.state_norms[static_cast<std::size_t>(j)];
      if (!std::isfinite(norm)) continue;
      auto& [sum, seen] = sums[start + j];
      sum += norm;
      ++seen;
    }
  }
}

class StateNorms {
 public:
  explicit StateNorms(const RunTable& table) : table_(table), alone_(table.groups.size() == 1) {
    data_.columns = {"group", "moment", "loop", "norm"};
    if (alone_) {
      for (const auto& [moment, name] : kMoments) add(table.groups.front(), moment, name);
    } else {
      for (const auto& group : table.groups) add(group, 1.0, "end");
    }
  }

  std::optional<Chart> chart() const {
    if (most_loops_ < 2) return std::nullopt;
    return Chart{.name = "states",
                 .title = "State norms",
                 .how_to_read = how_to_read(),
                 .spec = spec().dump(),
                 .data = data_,
                 .legend = alone_ ? moment_legend() : group_legend(table_),
                 .can_focus = !alone_};
  }

 private:
  void add(const RunGroup& group, double moment, const char* name) {
    Sums sums;
    for (const auto i : group.runs)
      if (in_chart(group, table_.runs[i])) add_norms(table_.runs[i], moment, sums);
    if (sums.size() < 2) return;  // a single loop has no course
    for (const auto& [loop, sum] : sums) {
      data_.rows.push_back({group.name, std::string(name), static_cast<double>(loop),
                            sum.first / static_cast<double>(sum.second)});
      most_loops_ = std::max(most_loops_, loop);
    }
  }

  [[nodiscard]] Json colour() const {
    if (!alone_) return group_colour(table_);
    Json names = Json::array(), colours = Json::array();
    for (std::size_t i = 0; i < kRamp; ++i) {
      names.push_back(kMoments[i].second);
      colours.push_back(ramp_colour(i));
    }
    return {{"field", "moment"},
            {"type", "ordinal"},
            {"sort", names},
            {"scale", {{"domain", names}, {"range", colours}}}};
  }

  [[nodiscard]] Json spec() const {
    Json out = frame(data_, 240);
    out["params"] = Json::array({focus_parameter()});
    out["mark"] = {{"type", "line"}, {"point", {{"filled", true}, {"size", 30}}}};
    Json x = number_axis("loop", "loop");
    x["scale"]["padding"] = 8;
    x["axis"] = {{"format", "d"}, {"tickMinStep", 1}, {"labelOverlap", true}};
    Json tooltip = {{{"field", alone_ ? "moment" : "group"}},
                    {{"field", "loop"}, {"type", "quantitative"}},
                    {{"field", "norm"}, {"type", "quantitative"}, {"format", ".4g"}}};
    Json y = number_axis("norm", field_name("state_norms").label());
    y["scale"]["padding"] = 8;
    out["encoding"] = {{"x", x}, {"y", y}, {"color", colour()}, {"tooltip", tooltip}};
    if (!alone_) out["encoding"]["opacity"] = focus_opacity();
    return out;
  }

  [[nodiscard]] static std::vector<LegendEntry> moment_legend() {
    std::vector<LegendEntry> legend;
    for (std::size_t i = 0; i < kRamp; ++i)
      legend.push_back({kMoments[i].second, ramp_colour(i), ""});
    return legend;
  }

  [[nodiscard]] std::string how_to_read() const {
    const std::string text =
        "A level line is a loop whose state neither grows nor shrinks; a line that climbs with "
        "every loop warns that more loops than trained will not stay stable. ";
    return text + (alone_ ? "Shades: from the start of training to its end."
                          : "Mean over the last steps of all seeds.");
  }

  const RunTable& table_;
  DataTable data_;
  bool alone_;
  std::int64_t most_loops_ = 0;
};

}  // namespace

std::optional<Chart> states_chart(const RunTable& table) { return StateNorms(table).chart(); }

}  // namespace rondo
