// What the charts share: which number tells quality, colour scales, the frame of a spec.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "record/table.h"
#include "report/charts.h"

namespace rondo {

/// The number that compares runs: bits per byte where all have it, else accuracy, else the loss.
enum class Metric { kBitsPerByte, kAccuracy, kLoss };

/// Key of the metric in records ("bits_per_byte").
std::string_view key_of(Metric metric);

/// The metric of the runs' final values.
Metric final_metric(const RunTable& table);
double value_of(Metric metric, const RunSummary& summary);
double value_of(Metric metric, const DepthPoint& point);
const Spread& value_of(Metric metric, const RunGroup& group);

/// Whether a chart of means takes a run in: the runs that count, or all of a group that has only
/// lost ones, whose last numbers are what one wants to look at then.
bool in_chart(const RunGroup& group, const RunRecord& run);

/// `{"field": "group", "type": "nominal", "scale": {domain, range}}` with the groups' colours.
Json group_colour(const RunTable& table);
/// Likewise with the groups' point shapes.
Json group_shape(const RunTable& table);

/// 1, or `faded` for the groups beside the one that the reader has picked (parameter `focus`).
Json focus_opacity(double full = 1, double faded = 0.12);
/// The parameter that focus_opacity reads.
Json focus_parameter();

/// $schema, size, config and data of a spec; the caller adds params, layers, encodings.
Json frame(const DataTable& data, int height);

/// `field` on an axis of numbers with this title, not forced to start at zero.
Json number_axis(const std::string& field, const std::string& title);

/// The groups with their colours and shapes; empty for a single group.
std::vector<LegendEntry> group_legend(const RunTable& table);

}  // namespace rondo
