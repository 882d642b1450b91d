// `rondo report FIT.json [PLAN.json]`: a fitted law as a page on disk.
#pragma once

#include <string>

#include "base/files.h"

namespace rondo {

/// How and where the page of a law is written.
struct LawReportOptions {
  fs::path out = {};       ///< a file, or an existing folder; empty: report.html beside the fit
  std::string title = {};  ///< empty: made from the law's name
  fs::path plan = {};      ///< what `rondo plan --json` printed; empty: no plan on the page
  bool csv = true;         ///< also the data of every chart as CSV, and the settings of the plan
  double flops = 0;        ///< budget at which loops are compared; 0: from the fitted runs
};

/// Reads what `rondo fit --json` printed and writes a page that needs nothing else, beside it
/// `<page>-<chart>.vl.json` and `<page>-<chart>.csv` for every chart, and `<page>-plan.csv`.
/// Returns the page's path. Throws input errors: files that are not there or not what they should
/// be (path and key); and errors of the work when the page cannot be written.
fs::path write_law_report(const fs::path& fit, const LawReportOptions& options);

}  // namespace rondo
