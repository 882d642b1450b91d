// FIT.json: what `rondo fit --json` prints and `rondo plan` reads.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "law/fit.h"

namespace rondo {

/// The number, or null where it is not finite.
Json finite_or_null(double value);

/// The contract's keys and, beyond them, all that a plan or a page needs.
Json to_json(const FitResult& fit);

/// A law as a plan needs it. Everything but law and parameters may be missing from a file that was
/// written by hand.
struct FittedLaw {
  LawForm form;
  std::vector<double> parameters;  ///< NaN where the file has null
  std::vector<std::vector<double>> bootstrap;
  double recurrent_share = 0;  ///< NaN when missing
  std::vector<FitResult::Range> ranges;
  std::vector<std::string> statements;
  std::string path;

  [[nodiscard]] double largest(std::string_view column) const;
  [[nodiscard]] double smallest(std::string_view column) const;
};

/// The law of a fit, as reading its FIT.json would give it. `path` stands in messages.
FittedLaw fitted_law(const FitResult& fit, const std::string& path);

/// Reads a FIT.json. Throws input errors with path and key: not JSON, an unknown law, a missing or
/// non-finite parameter of the law.
FittedLaw read_fit(const fs::path& path);
FittedLaw parse_fit(std::string_view text, const std::string& path);

}  // namespace rondo
