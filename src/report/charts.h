// The charts of a report, as Vega-Lite specs made from a table of runs. One file per chart; adding
// one is a function here and a line in all_charts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/table.h"
#include "report/data_table.h"

namespace rondo {

/// One mark of a chart's legend.
struct LegendEntry {
  std::string label;
  std::string colour;      ///< as in theme.h
  std::string_view shape;  ///< SVG path; empty for a line
};

/// A chart that is ready to be shown or saved.
struct Chart {
  std::string name;                 ///< of files and page anchors: "loss"
  std::string title;                ///< "Loss while training"
  std::string how_to_read;          ///< one or two sentences
  std::string spec;                 ///< Vega-Lite (JSON text), data inlined, colours as in theme.h
  DataTable data;                   ///< what the spec shows
  std::vector<LegendEntry> legend;  ///< drawn by the page, which can wrap it; often empty
  /// The legend's labels are values of the spec's parameter `focus`, which fades all others.
  bool can_focus = false;
};

/// Loss against tokens, FLOPs or seconds, to be chosen. One group: training and validation loss;
/// several: one of the two, a line per run. Nothing when no run has a loss yet.
std::optional<Chart> loss_chart(const RunTable& table);

/// Quality over the number of loops at inference, trained range shaded; mean and range over seeds.
/// Groups without a loop are level lines. Nothing when there is no depth sweep.
std::optional<Chart> depth_chart(const RunTable& table);

/// Norm of the state after each loop: over the course of training for one group, at its end for
/// several. Nothing when no run recorded norms of two loops or more.
std::optional<Chart> states_chart(const RunTable& table);

/// Every seed's final value with the mean of its group. Nothing for a single group.
std::optional<Chart> results_chart(const RunTable& table);

/// All charts that the runs have data for, in the order of a page.
std::vector<Chart> all_charts(const RunTable& table);

/// The chart's spec to stand alone in a file: light colours, legend, fixed width.
std::string standalone_spec(const Chart& chart);

}  // namespace rondo
