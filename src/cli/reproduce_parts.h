// What the studies of `rondo reproduce` print and write alike.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "base/files.h"
#include "base/json.h"
#include "plan/claims.h"
#include "report/data_table.h"

namespace rondo {

/// Writes a table as CSV and returns its entry in `tables[]`.
Json write_table(const fs::path& folder, const std::string& name, const DataTable& data);

/// A study that has been run and judged.
struct FinishedStudy {
  std::string name, scale;
  fs::path out;
  Json tables;  ///< `tables[]`
  std::span<const Judgement> claims;
  std::string page;  ///< HTML
};

/// Writes report.html and NAME.json, and prints the latter or the claims.
void finish_study(const FinishedStudy& study, bool as_json);

}  // namespace rondo
