// A chart as it is handed about: a Vega-Lite spec with its words and its numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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
  /// All rows, for the file beside the page, where the spec shows only some of them; else empty.
  DataTable whole = {};
};

/// The chart's spec to stand alone in a file: light colours, legend, fixed width.
std::string standalone_spec(const Chart& chart);

}  // namespace rondo
