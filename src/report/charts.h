// The charts of a report, as Vega-Lite specs made from a table of runs. One file per chart; adding
// one is a function here and a line in all_charts.
#pragma once

#include <optional>
#include <vector>

#include "record/table.h"
#include "report/chart.h"

namespace rondo {

/// Loss against tokens, FLOPs or seconds, to be chosen. One group: training and validation loss;
/// several: one of the two, a line per run. Nothing when no run has a loss yet.
std::optional<Chart> loss_chart(const RunTable& table);

/// Quality over the number of loops at inference, trained range shaded; mean and range over seeds.
/// Groups without a loop are level lines. Nothing when there is no depth sweep.
std::optional<Chart> depth_chart(const RunTable& table);

/// Accuracy over the length of a task's examples, trained lengths shaded; means and every seed.
/// Nothing when no run has a length sweep.
std::optional<Chart> length_chart(const RunTable& table);

/// Norm of the state after each loop: over the course of training for one group, at its end for
/// several. Nothing when no run recorded norms of two loops or more.
std::optional<Chart> states_chart(const RunTable& table);

/// Every seed's final value with the mean of its group. Nothing for a single group.
std::optional<Chart> results_chart(const RunTable& table);

/// All charts that the runs have data for, in the order of a page.
std::vector<Chart> all_charts(const RunTable& table);

}  // namespace rondo
