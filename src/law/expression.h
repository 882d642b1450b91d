// Formulas over columns and parameters, compiled to a list of operations on whole columns, with the
// exact gradient in all parameters by one backward sweep.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "law/form.h"
#include "law/table.h"

namespace rondo {

/// Names that a formula refers to, in the order of their first appearance. Throws an input error
/// with `where` and the place in the text for bad syntax. Grammar: numbers, names, + - * / ^,
/// parentheses, exp log sqrt min max.
std::vector<std::string> names_in(std::string_view formula, const std::string& where);

/// Value of a formula of pure numbers. `names` and `values` go together.
double evaluate_formula(std::string_view formula, std::span<const std::string> names,
                        std::span<const double> values, const std::string& where);

/// A form bound to columns of numbers: predicts the loss of every row for given parameters. What
/// depends on columns alone is computed once, when it is bound. Not for two threads at a time; a
/// copy is independent and cheap.
class BoundForm {
 public:
  /// `columns[i]` are the values of form.columns()[i]; all of one length. Throws an input error for
  /// a name that is neither column, definition nor parameter.
  BoundForm(const LawForm& form, std::vector<std::vector<double>> columns);
  BoundForm(const BoundForm& other);
  BoundForm(BoundForm&&) noexcept;
  BoundForm& operator=(BoundForm&&) noexcept;
  ~BoundForm();

  [[nodiscard]] std::size_t rows() const;

  /// Predicted loss of every row; may hold NaN or infinities. The span is valid until the next
  /// call.
  std::span<const double> predict(std::span<const double> parameters);

  /// After predict(): adds Σ_rows weights[row] · d loss[row] / d parameter to `gradient`.
  void pull_back(std::span<const double> weights, std::span<double> gradient);

 private:
  struct Program;
  std::unique_ptr<Program> program_;
};

/// Predicted loss of every row of a table.
std::vector<double> predict(const LawForm& form, const FitTable& table,
                            std::span<const double> parameters);

}  // namespace rondo
