// The sentences of a report, made from its numbers.
#pragma once

#include <string>

#include "record/table.h"

namespace rondo {

/// "looped-42", "looped-4, plain and truncated-8", "12 groups compared".
std::string title_of(const RunTable& table);

/// What came out, in one paragraph: size, cost and result of a run, or the best groups of a
/// comparison, their gap and how it compares with the spread of the seeds.
std::string summary_of(const RunTable& table);

/// "3.331 M", "–" when unknown.
std::string count_text(double value);
/// A number with this many decimals, "–" when unknown.
std::string decimal_text(double value, int decimals);

}  // namespace rondo
