// Which parameters the data determine.
#pragma once

#include <string>
#include <vector>

#include "law/form.h"
#include "law/objective.h"
#include "law/table.h"

namespace rondo {

/// One flag per parameter of the form, and sentences about those that are not determined.
struct Identification {
  std::vector<bool> identified;
  std::vector<std::string> statements;
};

/// From the singular values of d residual / d free number at the best fit: a direction along which
/// no prediction changes is one that the data say nothing about.
Identification identify(const LawForm& form, const FitTable& fitted_rows, Objective objective,
                        const std::vector<double>& free);

}  // namespace rondo
