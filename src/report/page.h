// The report as one HTML page that needs nothing else: script, style and data are inside, and no
// network is asked for anything.
#pragma once

#include <string>
#include <vector>

#include "record/table.h"
#include "report/charts.h"

namespace rondo {

/// What a page says besides the runs.
struct PageOptions {
  std::string title = {};    ///< empty: made from the groups
  std::string written = {};  ///< when the page was made ("2 Jan 2026 10:00 UTC")
  int refresh_s = 0;         ///< the page reloads itself after so many seconds; 0 = never
};

/// Runs on other data than the page's first ones, whose numbers do not compare with theirs.
struct PagePart {
  std::string name;   ///< of anchors: "parity"
  std::string title;  ///< "Task parity"
  RunTable table;
  std::vector<Chart> charts;
};

/// The page for the runs of `table` with these charts, then of `parts`. Tables hold the main
/// numbers, so that it still serves where scripts are off.
std::string render_page(const RunTable& table, const std::vector<Chart>& charts,
                        const PageOptions& options, const std::vector<PagePart>& parts = {});

}  // namespace rondo
