// Fitting a law: the sum of Huber(log predicted − log observed) over the runs, minimised from many
// random starts with exact gradients (Hoffmann et al. 2022, approach 3; objective as a sum, see
// docs/laws.md).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "law/form.h"
#include "law/table.h"

namespace rondo {

/// How a fit is done.
struct FitOptions {
  int starts = 500;
  std::uint64_t seed = 0;
  double delta = 1e-3;                         ///< where Huber's loss turns from square to absolute
  double overestimate_weight = 1;              ///< factor on rows whose loss is predicted too high
  int threads = 0;                             ///< 0 = all cores
  int bootstrap = 0;                           ///< refits on resampled rows; 0 = no intervals
  int bootstrap_starts = 5;                    ///< starts of each refit, the first at the best fit
  std::vector<std::string> bootstrap_by = {};  ///< resample cells that share these columns
  bool profile = false;                        ///< profile intervals too
  std::string holdout = {};                    ///< rows where this holds are held out
  /// Called now and then with (what, done, of all).
  std::function<void(std::string_view, int, int)> progress = {};
};

/// How well a law does on rows.
struct FitQuality {
  std::size_t points = 0;
  double rmse_nats = 0;  ///< of the loss itself, not of its logarithm
  double r2 = 0;         ///< NaN when all losses are equal
};

/// Two ends, or nothing where there is no interval.
using Interval = std::optional<std::pair<double, double>>;

/// A fitted law. Parameters are in the table's units and in the order of the form.
struct FitResult {
  LawForm form;
  std::vector<double> parameters;
  /// Whether the data determine the parameter. Those that they do not have a value here all the
  /// same: one of many that fit equally well.
  std::vector<bool> identified;
  /// Sentences: which parameters are not identified, and why not as far as that is known.
  std::vector<std::string> statements;
  std::vector<Interval> intervals;             ///< 2.5 to 97.5 % of the bootstrap
  std::vector<double> standard_errors;         ///< of the bootstrap; empty without one
  std::vector<Interval> profile_intervals;     ///< empty unless asked for
  std::vector<std::vector<double>> bootstrap;  ///< parameters of every refit
  double objective = 0;
  double aic = 0;  ///< 2 k − 2 log likelihood of Laplace-distributed log residuals
  double bic = 0;
  FitQuality fitted;
  std::optional<FitQuality> holdout;
  int starts = 0;
  int starts_at_best = 0;  ///< that ended within 1e-4 (relative) of the best objective
  std::string stop_reason;
  double gradient_norm = 0;  ///< largest component at the best point, in standardised units
  double delta = 1e-3;
  double overestimate_weight = 1;
  std::size_t dropped = 0;
  std::vector<std::string> notes;
  std::vector<std::string> bootstrap_by;
  double recurrent_share = 0;  ///< median of n_rec / (n_once + n_rec) over the fitted rows
  /// Range of each column over the fitted rows: the law is known inside it.
  struct Range {
    std::string column;
    double low, high;
  };
  std::vector<Range> ranges;
  FitTable table;                 ///< all rows: fitted and held out
  std::vector<bool> held_out;     ///< one a row of `table`
  std::vector<double> predicted;  ///< one a row of `table`

  /// Largest value of a column among the fitted rows; NaN for a column that was not there.
  [[nodiscard]] double largest(std::string_view column) const;
};

/// Holds parameters at values, in the table's units: `--fix q=1.0`. Throws an input error for an
/// unknown name or a value that the parameter cannot have.
void fix_parameters(LawForm& form, const std::vector<std::pair<std::string, double>>& values);

/// Fits `form` to `table`. Throws input errors: fewer rows than parameters, rows all equal, no rows
/// held out or none left, a formula that is not finite anywhere.
FitResult fit_law(const LawForm& form, const FitTable& table, const FitOptions& options);

/// Fitting without one cell of rows after the other, and predicting it: how a law does on what it
/// has not seen.
struct CellError {
  std::string cell;  ///< the values that its rows share: "loops 8, backward_loops 2"
  FitQuality quality;
};
struct LeaveOneOut {
  std::vector<CellError> cells;
  FitQuality all;  ///< over the predictions of all cells together
};
/// `fit` is a fit to the same table; each refit starts from it. Throws an input error for an
/// unknown column or when leaving a cell out leaves fewer rows than parameters.
LeaveOneOut leave_one_cell_out(const FitResult& fit, const std::vector<std::string>& columns,
                               const FitOptions& options);

/// Loss of a law at a point. Reused over many points.
class LawFunction {
 public:
  /// What a law may depend on. A law that does not use one ignores it.
  struct Point {
    double n_once = 0, n_rec = 0, loops = 1, backward_loops = 1, tokens = 1;
    double unique_tokens = 0;    ///< 0: as many as `tokens`, no repetition
    double inference_loops = 0;  ///< 0: as many as `loops`
  };
  /// Throws an input error when the form uses a column that a Point does not have.
  LawFunction(const LawForm& form, std::vector<double> parameters);
  LawFunction(const LawFunction&);
  LawFunction(LawFunction&&) noexcept;
  ~LawFunction();
  [[nodiscard]] double operator()(const Point& point) const;
  /// Value of a definition of the form, such as "g" or "n_eff"; nothing when it has none.
  [[nodiscard]] std::optional<double> definition(std::string_view name, const Point& point) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rondo
