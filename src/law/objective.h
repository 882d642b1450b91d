// The function that a fit minimises, over free numbers: logarithms of positive parameters, the rest
// as they are, fixed ones left out, all in standardised units.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "law/expression.h"
#include "law/form.h"
#include "law/table.h"

namespace rondo {

/// Units in which the sizes, token counts and losses of a table have geometric mean 1, so that a
/// fit does not depend on the units that the table is in.
struct Standard {
  double n = 1, tokens = 1, loss = 1;

  /// One unit of a parameter, for parameters in the table's units or in standardised ones alike
  /// (scales refer to exponents only). Throws an input error for a scale that is not positive.
  [[nodiscard]] double unit(const LawForm& form, std::size_t parameter,
                            std::span<const double> parameters) const;
  /// Standardised parameters from those in the table's units, and back.
  [[nodiscard]] std::vector<double> standardised(const LawForm& form,
                                                 std::span<const double> parameters) const;
  [[nodiscard]] std::vector<double> in_table_units(const LawForm& form,
                                                   std::span<const double> parameters) const;
};

/// The standard of a table for a form; all ones when no parameter says what its unit is.
Standard standard_of(const LawForm& form, const FitTable& table);

/// Rows of a table bound to a form, and the sum of Huber(log predicted − log observed) over them.
/// Not for two threads at a time; copies are independent.
class Objective {
 public:
  Objective(const LawForm& form, const FitTable& table, const Standard& standard, double delta,
            double overestimate_weight);

  [[nodiscard]] std::size_t rows() const { return log_observed_.size(); }
  /// Free numbers, one per parameter that is not fixed.
  [[nodiscard]] std::size_t size() const { return free_.size(); }
  /// Places in form.parameters of the free ones.
  [[nodiscard]] const std::vector<std::size_t>& free_parameters() const { return free_; }

  /// Standardised parameters from free numbers, and back.
  [[nodiscard]] std::vector<double> parameters(std::span<const double> free) const;
  [[nodiscard]] std::vector<double> free_numbers(std::span<const double> parameters) const;

  /// How often each row counts: a resample. Default 1 each.
  void set_row_weights(std::vector<double> weights) { row_weights_ = std::move(weights); }

  /// Keeps one free number where it starts: its slope is reported as 0, so that no descent moves
  /// it.
  void hold(std::size_t free) { held_ = free; }

  /// The objective and, unless `gradient` is null, its gradient. False where it is not finite.
  bool evaluate(const double* free, double* value, double* gradient);

  /// Residuals of log loss at free numbers. May hold NaN.
  std::vector<double> residuals(std::span<const double> free);
  /// d residual / d free number, row by row.
  std::vector<std::vector<double>> jacobian(std::span<const double> free);

 private:
  void set_parameters(const double* free);

  std::vector<std::size_t> free_;
  std::vector<bool> positive_;  // one per free number
  std::optional<std::size_t> held_;
  std::vector<double> parameters_;  // standardised, all of them
  BoundForm bound_;
  std::vector<double> log_observed_, row_weights_;
  std::vector<double> slopes_, parameter_gradient_;
  double delta_, overestimate_weight_;
};

}  // namespace rondo
