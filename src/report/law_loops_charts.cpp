// What loops are worth, and what they lose or win at one budget: over T and B as a heat map, over T
// alone as a line where the law does not see B.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/statistics.h"
#include "base/text.h"
#include "report/chart_parts.h"
#include "report/law_chart_parts.h"
#include "report/law_charts.h"
#include "report/theme.h"

namespace rondo {
namespace {

/// Opacity of the palest and the darkest cell, and where the text on it takes the paper's colour:
/// at 0.72 both colours keep a contrast above 3 in the light and in the dark scheme.
constexpr double kPale = 0.05, kDark = 0.92, kTextTurns = 0.72;
/// Gaps beyond so many times their median are as pale as can be.
constexpr double kPaleFrom = 4;

/// A number for every pair of loops.
struct LoopMap {
  DataTable table;  ///< columns loops, backward_loops, cell, rows, best, value, label, shade, …
  std::string value_title;
  Json label;  ///< the text in the cells, as an encoding
  Json tooltip;
};

std::string rows_word(const LawOptimum& optimum) {
  return optimum.fitted ? "fitted" : optimum.held_out ? "held out" : "none";
}

/// Whether the law tells some B apart at equal T.
bool sees_truncation(const std::vector<LawOptimum>& optima) {
  std::set<double> forward;
  for (const auto& optimum : optima) forward.insert(optimum.loops.forward);
  return forward.size() < optima.size();
}

Json loops_axis(const char* field, const char* title, bool descending) {
  return {{"field", field},
          {"type", "ordinal"},
          {"title", title},
          {"sort", descending ? "descending" : "ascending"},
          {"axis", {{"grid", false}, {"ticks", false}, {"domain", false}, {"labelAngle", 0}}},
          {"scale", {{"padding", 0.06}}}};
}

Json heat_layers(const LoopMap& map, std::size_t columns) {
  const Json cell = {
      {"mark", {{"type", "rect"}, {"fill", series_colour(0)}}},
      {"encoding",
       {{"fillOpacity", {{"field", "shade"}, {"type", "quantitative"}, {"scale", nullptr}}},
        {"tooltip", map.tooltip}}}};
  const auto outline = [](const char* test, const char* colour, double width) -> Json {
    return {{"transform", {{{"filter", test}}}},
            {"mark",
             {{"type", "rect"}, {"fill", nullptr}, {"stroke", colour}, {"strokeWidth", width}}}};
  };
  Json held_out = outline("datum.rows == 'held out'", "var(--ink)", 1.25);
  held_out["mark"]["strokeDash"] = {3, 3};
  const Json size = {{"expr", fmt::format("clamp(width / {} / 3.4, 4, 12)", columns)}};
  const Json text = {
      {"mark", {{"type", "text"}, {"fontSize", size}}},
      {"encoding",
       {{"text", map.label},
        {"color",
         {{"condition",
           {{"test", fmt::format("datum.shade > {}", kTextTurns)}, {"value", "var(--paper)"}}},
          {"value", "var(--ink)"}}}}}};
  return Json::array({cell, outline("datum.rows == 'fitted'", "var(--ink)", 1.25), held_out,
                      outline("datum.best == 'yes'", "var(--series-2)", 3), text});
}

Json line_layers(const LoopMap& map) {
  const Json y = {{"field", "low"}, {"type", "quantitative"}};
  const Json band = {{"transform", {{{"filter", "isValid(datum.low)"}}}},
                     {"mark", {{"type", "area"}, {"opacity", 0.18}, {"color", series_colour(0)}}},
                     {"encoding", {{"y", y}, {"y2", {{"field", "high"}}}}}};
  const Json line = {{"mark", {{"type", "line"}, {"stroke", series_colour(0)}}}};
  const Json marks = {
      {"mark", {{"type", "point"}, {"stroke", series_colour(0)}, {"size", 60}}},
      {"encoding",
       {{"fill",
         {{"condition", {{"test", "datum.rows == 'fitted'"}, {"value", series_colour(0)}}},
          {"value", "var(--paper)"}}},
        {"tooltip", map.tooltip}}}};
  return Json::array({band, line, marks});
}

Json map_spec(const LoopMap& map, const std::vector<LawOptimum>& optima) {
  std::set<double> forward, backward;
  for (const auto& optimum : optima) {
    forward.insert(optimum.loops.forward);
    backward.insert(optimum.loops.backward);
  }
  if (sees_truncation(optima)) {
    Json spec = frame(map.table, 50 + 26 * static_cast<int>(backward.size()));
    spec["encoding"] = {{"x", loops_axis("loops", "forward loops T", false)},
                        {"y", loops_axis("backward_loops", "backward loops B", true)}};
    spec["layer"] = heat_layers(map, forward.size());
    return spec;
  }
  Json spec = frame(map.table, 260);
  Json x = number_axis("loops", "forward loops T");
  x["scale"] = {{"type", "log"}, {"base", 2}, {"nice", false}, {"padding", 12}};
  x["axis"] = {{"format", "d"}, {"values", forward}, {"labelOverlap", true}, {"tickCount", 100}};
  Json y = number_axis("value", map.value_title);
  y["scale"]["padding"] = 10;
  spec["encoding"] = {{"x", x}, {"y", y}};
  spec["layer"] = line_layers(map);
  return spec;
}

std::vector<Cell> loop_cells(const LawOptimum& optimum, bool best, double value, double label,
                             double shade, const Interval& interval) {
  const double none = std::nan("");
  return {optimum.loops.forward,
          optimum.loops.backward,
          optimum.name,
          rows_word(optimum),
          std::string(best ? "yes" : "no"),
          value,
          interval ? interval->first : none,
          interval ? interval->second : none,
          label,
          shade};
}

Json loop_tips(const std::string& title, const std::string& format) {
  return Json::array({{{"field", "cell"}},
                      {{"field", "rows"}},
                      tip("value", title, format),
                      tip("low", "2.5 %", format),
                      tip("high", "97.5 %", format)});
}

const std::vector<std::string> kLoopColumns = {
    "loops", "backward_loops", "cell", "rows", "best", "value", "low", "high", "label", "shade"};

Json label_text(const char* format) {
  return {{"field", "label"}, {"type", "quantitative"}, {"format", format}};
}

/// Whole thousandths, with a digit more below one so that only the best is 0.
Json gap_text() {
  Json text = label_text(".0f");
  text["condition"] = label_text(".1~f");
  text["condition"]["test"] = "datum.label < 0.95";
  return text;
}

/// What the outlines of a heat map, or the marks of a line, mean.
std::string outline_words(const std::vector<LawOptimum>& optima) {
  if (std::none_of(optima.begin(), optima.end(),
                   [](const auto& optimum) { return optimum.fitted || optimum.held_out; }))
    return " The file names no runs: all of this is the law's word alone.";
  if (!sees_truncation(optima))
    return " Filled marks were fitted; hollow ones are the law's word alone.";
  const bool held_out = std::any_of(optima.begin(), optima.end(),
                                    [](const auto& optimum) { return optimum.held_out; });
  return std::string(" Outlined cells were fitted") +
         (held_out ? ", dashed ones held out; the rest is the law's word alone."
                   : "; the others are the law's word alone.");
}

std::size_t best_place(const std::vector<LawOptimum>& optima) {
  const auto best = std::min_element(
      optima.begin(), optima.end(),
      [](const auto& a, const auto& b) { return a.setting.loss_nats < b.setting.loss_nats; });
  return static_cast<std::size_t>(best - optima.begin());
}

}  // namespace

std::optional<Chart> gain_chart(const LawData& data, const std::vector<LawOptimum>& optima) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const auto& optimum : optima) {
    if (!optimum.gain) return std::nullopt;
    low = std::min(low, *optimum.gain);
    high = std::max(high, *optimum.gain);
  }
  if (optima.size() < 2 || !(high > low)) return std::nullopt;
  LoopMap map{.table = {.columns = kLoopColumns, .rows = {}},
              .value_title = "gain g",
              .label = label_text(".2f"),
              .tooltip = loop_tips("g", ".3f")};
  for (const auto& optimum : optima) {
    const double shade = std::lerp(kPale, kDark, (*optimum.gain - low) / (high - low));
    map.table.rows.push_back(
        loop_cells(optimum, false, *optimum.gain, *optimum.gain, shade, optimum.gain_interval));
  }
  const auto& define = data.law.form.define;
  const bool named =
      std::any_of(define.begin(), define.end(), [](const auto& one) { return one.first == "g"; });
  const std::string what =
      named ? "g: how many times the recurrent parameters count in the effective size"
            : "How many times the recurrent parameters count in the effective size, (n_eff − "
              "n_once) / n_rec";
  return Chart{.name = "gain",
               .title = "What loops are worth",
               .how_to_read = what +
                              ". At T it would be as good as new layers; where it no longer grows, "
                              "further loops buy nothing." +
                              outline_words(optima),
               .spec = map_spec(map, optima).dump(),
               .data = std::move(map.table),
               .legend = {}};
}

std::optional<Chart> budget_chart(const LawData& data, const std::vector<LawOptimum>& optima) {
  if (optima.size() < 2) return std::nullopt;
  const std::size_t best = best_place(optima);
  std::vector<double> gaps;
  gaps.reserve(optima.size());
  for (const auto& optimum : optima)
    gaps.push_back(optimum.setting.loss_nats - optima[best].setting.loss_nats);
  const double most =
      std::min(*std::max_element(gaps.begin(), gaps.end()), kPaleFrom * median(gaps));
  LoopMap map{.table = {.columns = kLoopColumns, .rows = {}},
              .value_title = "loss (nats/token)",
              .label = gap_text(),
              .tooltip = loop_tips("loss", ".4f")};
  map.table.columns.insert(map.table.columns.end(), {"parameters", "tokens"});
  map.tooltip.push_back(tip("label", "above the best, 0.001 nat", ".1f"));
  map.tooltip.push_back(tip("parameters", "parameters", ".4~s"));
  map.tooltip.push_back(tip("tokens", "tokens", ".4~s"));
  for (std::size_t i = 0; i < optima.size(); ++i) {
    const Setting& at = optima[i].setting;
    // The root spreads the good cells, which are the ones to choose between.
    const double part = most > 0 ? std::sqrt(std::min(1.0, gaps[i] / most)) : 0;
    auto cells = loop_cells(optima[i], i == best, at.loss_nats, 1000 * gaps[i],
                            std::lerp(kDark, kPale, part), optima[i].loss);
    cells.insert(cells.end(), {at.n_total, at.tokens});
    map.table.rows.push_back(std::move(cells));
  }
  std::string words = fmt::format(
      "Each at its best size for {} FLOPs ({}), with {:.0f} % of the parameters in the loop. ",
      flops_words(data.budget), data.budget_from, 100 * data.recurrent_share);
  words += sees_truncation(optima)
               ? fmt::format("Numbers are thousandths of a nat above the best, {} with {:.4f}.",
                             optima[best].name, optima[best].setting.loss_nats)
               : fmt::format("Lower is better; the best is {} with {:.4f}.", optima[best].name,
                             optima[best].setting.loss_nats);
  return Chart{.name = "budget",
               .title = fmt::format("Loss at {} FLOPs by loops", flops_words(data.budget)),
               .how_to_read = words + outline_words(optima),
               .spec = map_spec(map, optima).dump(),
               .data = std::move(map.table),
               .legend = {}};
}

}  // namespace rondo
