// `rondo report`: from run folders to a page on disk.
#pragma once

#include <span>
#include <string>

#include "base/files.h"

namespace rondo {

/// How and where a report is written.
struct ReportOptions {
  fs::path out = {};       ///< a file, or an existing folder; empty: see default_page
  std::string title = {};  ///< empty: made from the groups
  bool csv = false;        ///< also the data of every chart and the table of runs as CSV
  bool watch = false;      ///< write the page anew while runs go
  double watch_period_s = 5;
};

/// Where the page goes unless told otherwise: DIR/report.html for one folder (a run or a folder of
/// runs), report.html beside the first folder for several.
fs::path default_page(std::span<const fs::path> dirs);

/// Reads the runs in and below `dirs` and writes the page, beside it `<page>-<chart>.vl.json` for
/// every chart and, on request, `<page>-<chart>.csv` and `<page>-runs.csv`. With `watch` it goes on
/// until no run is going or an interrupt came (base/interrupt.h). Returns the page's path. Throws
/// input errors: no such folder, no runs below it, corrupt records (file and line); and errors of
/// the work when the page cannot be written.
fs::path write_report(std::span<const fs::path> dirs, const ReportOptions& options);

}  // namespace rondo
