// The page of a diagnosis, made from what `rondo diagnose --json` prints.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "report/chart.h"

namespace rondo {

/// All charts that the rows have data for, in the order of the page.
std::vector<Chart> diagnosis_charts(const Json& diagnosis);

/// The page. `written`: when it was made.
std::string render_diagnosis_page(const Json& diagnosis, const std::vector<Chart>& charts,
                                  const std::string& written);

/// Writes it (report.html when `out` is a folder), beside it the charts with their data and the
/// diagnosis itself; returns the page's path.
fs::path write_diagnosis_page(const Json& diagnosis, const fs::path& out);

/// Whether JSON looks like a diagnosis.
bool is_diagnosis(const Json& json);

/// Reads what `rondo diagnose --json` printed. Throws an input error when it is something else.
Json read_diagnosis(const fs::path& path);

}  // namespace rondo
