// Lines over loops, with a mark where the trained ones end.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "report/chart.h"

namespace rondo {

/// Values over loops under one name.
struct LoopSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< (loop, value), finite ones
  /// Lowest and highest seed at each of the points; empty where there is one value only.
  std::vector<std::pair<double, double>> ranges = {};
};

/// The words of a chart of lines.
struct CurveWords {
  std::string name, title, how_to_read;
  std::string axis;           ///< of the values
  std::string loop = "loop";  ///< of the loops
};

/// Lines over loops, with bands where series have ranges and a level line at `level`. The end of
/// the trained loops is marked where lines go beyond; NaN = nowhere. Nothing when no series has
/// two points.
std::optional<Chart> loop_curves(const CurveWords& words, const std::vector<LoopSeries>& all,
                                 double trained, std::optional<double> level = {});

/// An axis of loops.
Json loop_axis(const std::string& field, const std::string& title);

/// A line with its words where the trained loops end, on the x axis of a layered spec whose x is
/// `field`; nothing when the pass ends there or before.
void add_horizon(Json& spec, double at, double last, const std::string& field);

}  // namespace rondo
