// Reading runs and fitting laws to them, as more than one command does.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/log.h"
#include "law/fit.h"

namespace rondo {

/// The tables and run folders `sources` with all columns that `forms` use; `columns` are the
/// arguments of --column. Throws input errors of the reader.
FitTable read_runs(const std::vector<std::string>& sources, const std::vector<std::string>& columns,
                   std::span<const LawForm> forms, bool skip_bad);

/// FitOptions::progress that shows "starts: 40 of 500" in `line`, which must outlive the fit.
std::function<void(std::string_view, int, int)> fit_progress(Progress& line);

}  // namespace rondo
