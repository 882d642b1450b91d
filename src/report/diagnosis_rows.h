// The rows of a diagnosis as charts want them: by probe and site.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "report/chart.h"
#include "report/loop_curves.h"

namespace rondo {

/// The rows of a probe at one site that have a loop.
LoopSeries loop_series(const Json& diagnosis, const std::string& probe, const std::string& site,
                       const std::string& name);

/// Its value at a loop; NaN when there is none.
double value_at(const LoopSeries& series, double loop);

/// "core.0" … of the diagnosis' model; none for an RLT.
std::vector<std::string> core_blocks(const Json& diagnosis);

/// K and r.
double trained_loops_of(const Json& diagnosis);
double loops_of(const Json& diagnosis);

/// Charts of values over loops.
std::vector<Chart> diagnosis_curves(const Json& diagnosis);
/// Charts of the interaction and of the response.
std::vector<Chart> diagnosis_matrices(const Json& diagnosis);

}  // namespace rondo
