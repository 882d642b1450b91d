// What lies beside a page on disk, and when it was made.
#pragma once

#include <span>
#include <string>

#include "base/files.h"
#include "report/chart.h"

namespace rondo {

/// Where a page of this folder goes: `out` itself, report.html in it when it is a folder, and
/// `otherwise` when it is empty.
fs::path page_path(const fs::path& out, const fs::path& otherwise);

/// "<page without .html>-<ending>".
fs::path beside_page(const fs::path& page, const std::string& ending);

/// Writes `<page>-<chart>.vl.json` for every chart, and `<page>-<chart>.csv` if asked.
void write_chart_files(const fs::path& page, std::span<const Chart> charts, bool csv);

/// The time now: "2 January 2026, 10:00 UTC".
std::string now_text();

}  // namespace rondo
