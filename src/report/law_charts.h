// The charts of a law's page, as Vega-Lite specs. Each says nothing when the fit has no data for it
// or when it would have no meaning.
#pragma once

#include <optional>
#include <vector>

#include "report/chart.h"
#include "report/law_data.h"
#include "report/law_frontier.h"

namespace rondo {

/// Predicted against observed loss, fitted and held-out rows apart.
std::optional<Chart> predicted_chart(const LawData& data);

/// Residuals of the rows of each pair (T, B), or of each range of compute where loops do not vary.
std::optional<Chart> cells_chart(const LawData& data);

/// Residuals against tokens per parameter, FLOPs or another quantity, to be chosen.
std::optional<Chart> residuals_chart(const LawData& data);

/// Compute-optimal loss over FLOPs for the best few (T, B), with the rows and the lowest points of
/// isoFLOP parabolas (`isoflop` of the FIT.json, null without).
std::optional<Chart> frontier_chart(const LawData& data, const std::vector<LawFrontier>& frontiers,
                                    const Json& isoflop);

/// The size, the tokens and their ratio on these frontiers.
std::optional<Chart> optimum_chart(const LawData& data, const std::vector<LawFrontier>& frontiers,
                                   const Json& isoflop);

/// What loops are worth: g over T and B, or over T where the law does not see B.
std::optional<Chart> gain_chart(const LawData& data, const std::vector<LawOptimum>& optima);

/// Loss at one budget over T and B, or over T.
std::optional<Chart> budget_chart(const LawData& data, const std::vector<LawOptimum>& optima);

/// Histograms of the bootstrap's parameters with their intervals.
std::optional<Chart> bootstrap_chart(const LawData& data, const Json& intervals);

/// All of them that there is data for, in the order of the page.
std::vector<Chart> law_charts(const LawData& data, const Json& fit);

}  // namespace rondo
