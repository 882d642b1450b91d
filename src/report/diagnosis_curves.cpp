// What the loops of a model do, loop by loop: lines with the trained horizon marked, and the gains
// of a loop's stages as stacked bars.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "report/chart_parts.h"
#include "report/diagnosis_rows.h"
#include "report/law_chart_parts.h"
#include "report/loop_curves.h"
#include "report/theme.h"

namespace rondo {
namespace {

std::optional<Chart> curves_of(const Json& diagnosis, const CurveWords& words,
                               const std::vector<LoopSeries>& all,
                               std::optional<double> level = {}) {
  return loop_curves(words, all, trained_loops_of(diagnosis), level);
}

/// A probe at the whole loop and at each block of the core.
std::vector<LoopSeries> loop_and_blocks(const Json& diagnosis, const std::string& probe) {
  std::vector<LoopSeries> all = {loop_series(diagnosis, probe, "loop", "whole loop")};
  for (const auto& block : core_blocks(diagnosis))
    all.push_back(loop_series(diagnosis, probe, block, block));
  return all;
}

/// The factors by which a loop's stages change the variance, as logarithms, which add up.
std::optional<Chart> gains(const Json& diagnosis) {
  const std::vector<LoopSeries> stages = {
      loop_series(diagnosis, "variance", "gain_inject", "injection and history"),
      loop_series(diagnosis, "variance", "gain_core", "core"),
      loop_series(diagnosis, "variance", "gain_mix", "gate and norm")};
  DataTable data{.columns = {"series", "loop", "gain", "log2_gain"}, .rows = {}};
  std::vector<std::string> names;
  for (const auto& stage : stages) {
    names.push_back(stage.name);
    for (const auto& [loop, gain] : stage.points)
      if (gain > 0) data.rows.push_back({stage.name, loop, gain, std::log2(gain)});
  }
  if (data.rows.empty()) return std::nullopt;
  const double loops = loops_of(diagnosis), trained = trained_loops_of(diagnosis);
  const Json y = {{"field", "log2_gain"},
                  {"type", "quantitative"},
                  {"stack", "zero"},
                  {"title", "log2 of the gain"}};
  Json x = loop_axis("loop", "loop");
  x["scale"] = {{"domain", {0.4, loops + 0.6}}, {"nice", false}};
  Json layers = Json::array();
  layers.push_back(
      {{"mark", {{"type", "bar"}, {"width", {{"expr", fmt::format("width / {} * 0.7", loops)}}}}},
       {"encoding",
        {{"y", y},
         {"color", named_colour("series", names)},
         {"tooltip",
          Json::array(
              {{{"field", "series"}}, tip("loop", "loop", "d"), tip("gain", "gain", ".4g")})}}}});
  layers.push_back(
      {{"data", {{"values", {{{"log2_gain", 0}}}}}},
       {"mark", {{"type", "rule"}, {"stroke", "var(--ink-3)"}}},
       {"encoding", {{"x", nullptr}, {"y", {{"field", "log2_gain"}, {"type", "quantitative"}}}}}});
  Json spec = frame(data, 260);
  spec["encoding"] = {{"x", x}};
  spec["layer"] = layers;
  add_horizon(spec, trained + 0.5, loops, "loop");
  return Chart{
      .name = "gains",
      .title = "Where a loop changes the variance",
      .how_to_read =
          "Each bar is the logarithm of the factor by which one stage of a loop multiplies "
          "the variance, up for growth and down for shrinking; the bars of a loop add up to "
          "the change of the state's variance.",
      .spec = spec.dump(),
      .data = std::move(data),
      .legend = named_legend(names, true)};
}

}  // namespace

std::vector<Chart> diagnosis_curves(const Json& diagnosis) {
  std::vector<Chart> charts;
  const auto add = [&](std::optional<Chart> chart) {
    if (chart) charts.push_back(std::move(*chart));
  };
  add(curves_of(
      diagnosis,
      {"update", "How far a loop moves the state",
       "Length of the change over length of the state before it, mean over positions: a line "
       "that falls towards zero is a state that settles.",
       "relative update"},
      loop_and_blocks(diagnosis, "update")));
  add(curves_of(
      diagnosis,
      {"angle", "How far a loop turns the state",
       "Angle between a state before and after as a share of half a turn (0.5: at right "
       "angles), mean over the last positions of the sequences: a line near zero is a state "
       "that keeps its direction.",
       "angle / π"},
      loop_and_blocks(diagnosis, "angle")));
  add(curves_of(
      diagnosis,
      {"variance", "Variance of the state",
       "Variance over the channels, mean over positions, before the first loop (0) and after "
       "each: a line that climbs beyond the trained loops is a state that grows without end.",
       "variance"},
      {loop_series(diagnosis, "variance", "state", "state")}));
  add(gains(diagnosis));
  add(curves_of(
      diagnosis,
      {"lens", "What every loop would answer",
       "Loss when the state after a loop is read out at once: where the line is level, "
       "further loops are of no use to the answer.",
       "loss, nats"},
      {loop_series(diagnosis, "logit_lens", "loss_nats", "read out through the coda"),
       loop_series(diagnosis, "logit_lens", "loss_nats_without_coda", "without the coda")}));
  add(curves_of(
      diagnosis,
      {"agreement", "When the answer is settled",
       "Share of positions at which the most likely token of a loop's state is already that of the "
       "last loop.",
       "agreement"},
      {loop_series(diagnosis, "logit_lens", "agreement", "read out through the coda"),
       loop_series(diagnosis, "logit_lens", "agreement_without_coda", "without the coda")}));
  add(curves_of(
      diagnosis,
      {"gradients", "How much gradient reaches a loop",
       "Norm of the loss's gradient by the state after a loop, and of what the loop adds to "
       "the gradient of the shared weights: a line that falls steeply to the left is a loss "
       "that hardly teaches the early loops.",
       "gradient norm"},
      {loop_series(diagnosis, "gradient_flow", "state", "state"),
       loop_series(diagnosis, "gradient_flow", "weights", "shared weights")}));
  add(curves_of(
      diagnosis,
      {"spectrum", "Whether small changes die out",
       "Largest |eigenvalue| of a loop's Jacobian at the last position: below the line at 1 "
       "small changes of a state shrink in the end, above it some grow.",
       "spectral radius"},
      {loop_series(diagnosis, "spectral_radius", "loop", "loop")}, 1.0));
  return charts;
}

}  // namespace rondo
