// What the studies of published laws share: reading, fitting, and rows of the common table.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "law/isoflop.h"
#include "law/raw_table.h"
#include "law/read_table.h"
#include "plan/published.h"

namespace rondo {

/// A published number and how far a refit may be from it; no tolerance where it is NaN.
struct Known {
  const char* parameter;
  double value;
  double tolerance;
};

/// A delta beyond every residual: Huber's loss is the square.
inline constexpr double kLeastSquares = 10;

/// One study at work. Rows are added under the law and the number of rows set last.
class Study {
 public:
  Study(std::string name, const fs::path& data, const PublishedOptions& options,
        std::vector<PublishedRow>& rows)
      : name_(std::move(name)), data_(data), options_(options), rows_(rows) {}

  [[nodiscard]] const PublishedOptions& options() const { return options_; }
  /// A table below the data folder.
  [[nodiscard]] FitTable read(const std::string& file, const ReadOptions& options = {}) const;
  /// One that is not a table of runs.
  [[nodiscard]] RawTable read_raw(const std::string& file) const;

  /// Options of a fit with `bootstrap` refits, resampled by `cells` of columns.
  [[nodiscard]] FitOptions fit_options(int bootstrap, std::vector<std::string> cells = {}) const;
  /// fit_law with progress.
  [[nodiscard]] FitResult fit(const LawForm& form, const FitTable& table,
                              const FitOptions& options) const;

  /// What the rows that follow belong to.
  void about(std::string law, std::size_t rows);
  void about(const FitResult& fit) { about(fit.form.name, fit.fitted.points); }
  /// A row without a published number.
  void found(std::string parameter, double value, Interval interval = {}, std::string note = {});
  /// A row with one.
  void compare(const Known& known, double value, Interval interval = {}, std::string note = {});
  /// The parameters of a fit that `known` names, in its order.
  void compare(const FitResult& fit, std::span<const Known> known, const std::string& note = {});

 private:
  std::string name_;
  const fs::path& data_;
  const PublishedOptions& options_;
  std::vector<PublishedRow>& rows_;
  std::string law_;
  std::size_t law_rows_ = 0;
};

/// A quantity that follows from a fit's parameters, with the interval of its refits.
struct Derived {
  double value;
  Interval interval;
};
Derived derived(const FitResult& fit,
                const std::function<double(const std::vector<double>&)>& quantity);
/// Value of a parameter of a fit.
double value_of(const FitResult& fit, std::string_view parameter);
/// beta / (alpha + beta): the power of C that N* grows with (Hoffmann et al. 2022, equation 4).
Derived size_exponent(const FitResult& fit);

/// Slope of the line through (x, y) by least squares.
double slope_of(const std::vector<double>& x, const std::vector<double>& y);

/// Sum of Huber(log predicted − log observed) of a law at given parameters.
double objective_at(const LawForm& form, const FitTable& table,
                    const std::vector<double>& parameters, double delta = 1e-3);

/// The numbers of a column of such a table. Throws an input error for a missing column or cell.
std::vector<double> numbers_of(const RawTable& table, const std::string& column);

/// Rows of a table that is made here and not read. Contract columns follow from the values.
struct MadeRow {
  double n_once, n_rec, loops, backward_loops, tokens, loss, budget;
};
FitTable made_table(const std::string& name, std::span<const MadeRow> rows);

/// The studies, by place in published.cpp.
void study_chinchilla(Study& study);
void study_chinchilla_cleaned(Study& study);
void study_iso_depth(Study& study);
void study_flops_per_token(Study& study);
void study_parcae(Study& study);
void study_isoflop_sources(Study& study);
void study_repeated_data(Study& study);
void study_test_time(Study& study);

}  // namespace rondo
