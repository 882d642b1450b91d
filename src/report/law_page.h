// The page of a fitted law: what it is, how good it is, what it says.
#pragma once

#include <string>
#include <vector>

#include "report/chart.h"
#include "report/law_data.h"

namespace rondo {

/// What a page is made of.
struct LawPage {
  const LawData& data;
  const Json& fit;   ///< the FIT.json
  const Json& plan;  ///< the PLAN.json, or null
  std::vector<Chart> charts;
  std::string title = {};    ///< empty: made from the law's name
  std::string written = {};  ///< when the page was made
  bool csv = false;          ///< whether the charts' data lie beside the page
};

std::string render_law_page(const LawPage& page);

}  // namespace rondo
