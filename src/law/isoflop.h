// IsoFLOP parabolas and the compute-optimal frontier (Hoffmann et al. 2022, arXiv 2203.15556,
// approach 2): at every budget the loss is a parabola in the logarithm of the size, its lowest
// point is the best size, and how that grows with the budget is a power law. The same over loops
// where the size is fixed (arXiv 2604.12946).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "law/fit.h"
#include "law/table.h"

namespace rondo {

struct IsoFlopOptions {
  int bootstrap = 200;  ///< resamples of the rows within each budget; 0 = no intervals
  std::uint64_t seed = 0;
  /// The column that says which rows share a budget. Empty: a column called `budget`, else rows
  /// whose flops agree within 2 %.
  std::string budget_column = {};
};

/// The rows of one budget and the parabola through them.
struct IsoFlopCurve {
  double budget = 0;     ///< FLOPs, or whatever the budget column holds
  std::size_t rows = 0;  ///< fitted
  double best = 0;       ///< n_total, or loops, at the lowest point
  Interval best_interval;
  double tokens = 0;         ///< what the rows of this budget have at that size: a parabola in logs
  double loss = 0;           ///< at the lowest point
  double curvature = 0;      ///< d² loss / d (ln size)²
  double low = 0, high = 0;  ///< smallest and largest size among the rows
  std::string problem;       ///< why the curve has no part in the frontier; empty when it has
};

/// y = coefficient · budget^exponent, by least squares in logarithms.
struct PowerLaw {
  double exponent, coefficient;
  Interval interval;  ///< of the exponent: 2.5 to 97.5 % of the resamples
};

/// Runs that differ in one quantity and the budget only.
struct IsoFlopCell {
  std::string varied;  ///< "n_total" or "loops"
  /// What the runs share; of "loops" cells the size, and B as a multiple of T.
  double loops = 0, backward_loops = 0, n_total = 0, backward_share = 0;
  std::vector<IsoFlopCurve> curves;  ///< smallest budget first
  std::size_t left_out = 0;          ///< curves with a problem
  std::optional<PowerLaw> best;      ///< of two curves or more
  std::optional<PowerLaw> tokens;
  std::size_t refits = 0;  ///< resamples in which two curves or more had a lowest point

  [[nodiscard]] std::string name() const;
};

struct IsoFlop {
  std::string budgets;  ///< where the budgets are from
  /// Cells with three sizes or loop counts at one budget or more.
  std::vector<IsoFlopCell> cells;
  std::size_t cells_without_curve = 0;
  int bootstrap = 0;
};

/// Every cell of a table: over n_total for fixed (loops, backward_loops), and over loops for fixed
/// n_once, n_rec and backward_loops / loops. Throws input errors: an unknown budget column, a
/// budget that is not a number above 0.
IsoFlop isoflop_frontier(const FitTable& table, const IsoFlopOptions& options);

Json to_json(const IsoFlop& isoflop);
/// An aligned table of the curves, and one line a cell with its exponents.
std::string to_text(const IsoFlop& isoflop);

}  // namespace rondo
