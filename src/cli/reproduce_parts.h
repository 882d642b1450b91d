// What the studies of `rondo reproduce` print and write alike.
#pragma once

#include <span>
#include <string>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "plan/claims.h"
#include "report/data_table.h"

namespace rondo {

/// Writes a table as CSV and returns its entry in `tables[]`.
Json write_table(const fs::path& folder, const std::string& name, const DataTable& data);

/// `claims[]{name, claim, rule, verdict, why}`.
Json claims_json(std::span<const Judgement> claims);

/// The claims for a terminal.
TextTable claims_table(std::span<const Judgement> claims);

}  // namespace rondo
