// A fit in words and tables, for people.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/json.h"
#include "base/text.h"
#include "law/fit.h"

namespace rondo {

/// Parameters with intervals, one a row.
TextTable parameter_table(const FitResult& fit);

/// How good the fit is and how it was found, statements about the data, one a line.
std::string summary_text(const FitResult& fit);

/// One row per law: parameters, objective, errors inside, held out and left out, criteria. All fits
/// are of one table; the first is the law that was asked for. `left_out` may be empty.
TextTable comparison_table(std::span<const FitResult> fits, std::span<const LeaveOneOut> left_out);
Json comparison_json(std::span<const FitResult> fits, std::span<const LeaveOneOut> left_out);

/// Cells that were left out one after the other.
TextTable to_text(const LeaveOneOut& left_out);
Json to_json(const LeaveOneOut& left_out);

}  // namespace rondo
