// Who depends on whom: the interaction as a heat map, its mean over the distance in loops, and the
// response of the last blocks.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "report/chart_parts.h"
#include "report/diagnosis_rows.h"
#include "report/law_chart_parts.h"
#include "report/law_json.h"
#include "report/theme.h"

namespace rondo {
namespace {

/// Layers of the model, and the place of a block's run among all.
struct Layout {
  double prelude, core, coda, loops, trained;

  explicit Layout(const Json& diagnosis)
      : prelude(json_number(json_member(diagnosis, "layers"), "prelude")),
        core(json_number(json_member(diagnosis, "layers"), "core")),
        coda(json_number(json_member(diagnosis, "layers"), "coda")),
        loops(loops_of(diagnosis)),
        trained(trained_loops_of(diagnosis)) {}

  [[nodiscard]] double size() const { return prelude + core * loops + coda; }
  /// Where loop `loop` begins.
  [[nodiscard]] double begin(double loop) const { return prelude + (loop - 1) * core; }

  /// `block` is "core.1"; NaN for what is no block.
  [[nodiscard]] double place(const std::string& block, double loop) const {
    const auto dot = block.find('.');
    if (dot == block.npos) return NAN;
    const double layer = std::atof(block.c_str() + dot + 1);
    if (block.starts_with("prelude")) return layer;
    return block.starts_with("core") ? begin(loop) + layer : begin(loops + 1) + layer;
  }
};

std::string words_of(const std::string& block, double loop) {
  return std::isfinite(loop) ? fmt::format("{}, loop {}", block, loop) : block;
}

/// An axis of runs of blocks that names the loops, as many of them as there is room for.
Json place_axis(const Layout& layout, const std::string& field, const std::string& title,
                bool down) {
  Json ticks = Json::array();
  const double step = std::ceil(layout.loops / 12);
  for (double loop = 1; loop <= layout.loops; loop += step)
    ticks.push_back(layout.begin(loop) + layout.core / 2);
  return {{"field", field},
          {"type", "quantitative"},
          {"title", title},
          {"axis",
           {{"values", ticks},
            {"grid", false},
            {"ticks", false},
            {"domain", false},
            {"labelExpr", fmt::format("'' + (floor((datum.value - {}) / {}) + 1)", layout.prelude,
                                      layout.core)}}},
          {"scale",
           {{"domain", {0, layout.size()}}, {"nice", false}, {"reverse", down}, {"zero", false}}}};
}

/// Lines where the trained loops end, across and down.
void add_border(Json& layers, const Layout& layout) {
  if (layout.trained >= layout.loops) return;
  const double at = layout.begin(layout.trained + 1);
  for (const bool down : {false, true}) {
    const char* field = down ? "x" : "y";
    layers.push_back(
        {{"data", {{"values", {{{field, at}}}}}},
         {"mark", {{"type", "rule"}, {"stroke", "var(--ink-2)"}, {"strokeDash", {4, 3}}}},
         {"encoding",
          {{"x", down ? Json{{"field", "x"}, {"type", "quantitative"}} : Json()},
           {"y", down ? Json() : Json{{"field", "y"}, {"type", "quantitative"}}}}}});
  }
}

std::optional<Chart> heat_map(const Json& diagnosis) {
  const Layout layout(diagnosis);
  DataTable data{.columns = {"skipped", "block", "x", "x2", "y", "y2", "value", "change", "shade"},
                 .rows = {}};
  double most = 0;
  for (const auto& row : json_list(diagnosis, "rows"))
    if (!json_text(row, "from").empty()) most = std::max(most, json_number(row, "value"));
  for (const auto& row : json_list(diagnosis, "rows")) {
    const auto from = json_text(row, "from"), to = json_text(row, "site");
    if (from.empty()) continue;
    const double value = json_number(row, "value");
    const double x = layout.place(to, json_number(row, "loop"));
    const double y = layout.place(from, json_number(row, "from_loop"));
    // Small values are most of them: the root tells them apart.
    const double shade = most > 0 ? std::sqrt(value / most) : 0;
    data.rows.push_back({words_of(from, json_number(row, "from_loop")),
                         words_of(to, json_number(row, "loop")), x, x + 1, y, y + 1, value,
                         json_number(row, "change"), shade});
  }
  if (data.rows.empty()) return std::nullopt;
  Json layers = Json::array();
  layers.push_back(
      {{"mark", {{"type", "rect"}, {"fill", series_colour(0)}}},
       {"encoding",
        {{"x2", {{"field", "x2"}}},
         {"y2", {{"field", "y2"}}},
         {"fillOpacity", {{"field", "shade"}, {"type", "quantitative"}, {"scale", nullptr}}},
         {"tooltip", Json::array({{{"field", "skipped"}, {"title", "skipped"}},
                                  {{"field", "block"}, {"title", "answers"}},
                                  tip("value", "C", ".4g"),
                                  tip("change", "N, before dividing", ".4g")})}}}});
  add_border(layers, layout);
  Json spec = frame(data, 420);
  spec["encoding"] = {{"x", place_axis(layout, "x", "block that answers, by loop", false)},
                      {"y", place_axis(layout, "y", "block that is skipped, by loop", true)}};
  spec["layer"] = layers;
  return Chart{
      .name = "interaction",
      .title = "Who depends on whom",
      .how_to_read = fmt::format(
          "Each cell says how much the update of the block on the x axis changes, relative to its "
          "size, when the run of the block on the y axis is skipped: the darker the more, as the "
          "root of the value, up to {:.3g}; a dark row is a block on which all later ones "
          "depend{}.",
          most,
          layout.trained < layout.loops ? ", and dashed lines show where the trained loops end"
                                        : ""),
      .spec = spec.dump(),
      .data = std::move(data),
      .legend = {}};
}

std::optional<Chart> lag_chart(const Json& diagnosis) {
  DataTable data{.columns = {"lag", "value", "pairs"}, .rows = {}};
  for (const auto& row : json_list(diagnosis, "rows"))
    if (json_text(row, "probe") == "interaction" && json_text(row, "site") == "lag")
      data.rows.push_back(
          {json_number(row, "lag"), json_number(row, "value"), json_number(row, "pairs")});
  if (data.rows.size() < 2) return std::nullopt;
  const Layout layout(diagnosis);
  Json x = number_axis("lag", "distance in loops");
  x["scale"]["padding"] = 10;
  x["axis"] = {{"format", "d"}, {"tickMinStep", 1}};
  Json y = number_axis("value", "mean interaction");
  y["scale"]["zero"] = true;
  Json spec = frame(data, 240);
  spec["mark"] = {{"type", "line"},
                  {"stroke", series_colour(0)},
                  {"point", {{"filled", true}, {"size", 36}, {"fill", series_colour(0)}}}};
  spec["encoding"] = {
      {"x", x},
      {"y", y},
      {"tooltip", Json::array({tip("lag", "loops apart", "d"), tip("value", "mean of C", ".4g"),
                               tip("pairs", "pairs", "d")})}};
  return Chart{.name = "lags",
               .title = "How far a loop's influence reaches",
               .how_to_read = fmt::format(
                   "Mean interaction of all pairs of core blocks that lie so many loops apart{}: a "
                   "line that falls quickly is a loop whose work the next ones undo or make again.",
                   layout.trained < layout.loops ? ", both beyond the trained loops" : ""),
               .spec = spec.dump(),
               .data = std::move(data),
               .legend = {}};
}

std::optional<Chart> response_chart(const Json& diagnosis) {
  DataTable data{.columns = {"block", "place", "value"}, .rows = {}};
  const Layout layout(diagnosis);
  std::vector<std::string> order;
  for (const auto& row : json_list(diagnosis, "rows")) {
    if (json_text(row, "probe") != "response" || json_text(row, "site") == "terminal") continue;
    const auto block = json_text(row, "site");
    const double loop = json_number(row, "loop");
    order.push_back(words_of(block, loop));
    data.rows.push_back({order.back(), layout.place(block, loop), json_number(row, "value")});
  }
  if (data.rows.size() < 2) return std::nullopt;
  double low = INFINITY, high = 0;
  for (const auto& row : data.rows) {
    low = std::min(low, std::get<double>(row[2]));
    high = std::max(high, std::get<double>(row[2]));
  }
  // Where the state settles, blocks right behind the skips answer hundreds of times as much.
  const bool wide = low > 0 && high > 30 * low;
  Json y = wide ? log_axis("value", "response", "~g") : number_axis("value", "response");
  if (!wide) y["scale"]["zero"] = true;
  Json spec = frame(data, 240);
  const Json line = {
      {"mark",
       {{"type", "line"},
        {"stroke", series_colour(0)},
        {"point", {{"filled", true}, {"size", 36}, {"fill", series_colour(0)}}}}},
      {"encoding",
       {{"x",
         {{"field", "block"},
          {"type", "nominal"},
          {"sort", order},
          {"title", nullptr},
          {"axis", {{"labelAngle", -40}, {"labelOverlap", true}}}}},
        {"y", y},
        {"tooltip", Json::array({{{"field", "block"}}, tip("value", "response", ".4g")})}}}};
  const Json one = {{"data", {{"values", {{{"value", 1}}}}}},
                    {"mark", {{"type", "rule"}, {"stroke", "var(--ink-3)"}}},
                    {"encoding", {{"y", {{"field", "value"}, {"type", "quantitative"}}}}}};
  spec["layer"] = Json::array({line, one});
  return Chart{
      .name = "response",
      .title = "Whether the last blocks listen",
      .how_to_read =
          "Change of a block's update when blocks shortly beyond the trained depth are "
          "skipped, over the mean of the last loop (the line at 1): coda blocks well below "
          "1 answer little to what the added loops did.",
      .spec = spec.dump(),
      .data = std::move(data),
      .legend = {}};
}

}  // namespace

std::vector<Chart> diagnosis_matrices(const Json& diagnosis) {
  std::vector<Chart> charts;
  for (auto chart : {heat_map(diagnosis), lag_chart(diagnosis), response_chart(diagnosis)})
    if (chart) charts.push_back(std::move(*chart));
  return charts;
}

}  // namespace rondo
