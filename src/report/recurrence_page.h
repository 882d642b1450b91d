// The page of the study of conditioning: what was expected and came out, tables, curves.
#pragma once

#include <string>
#include <vector>

#include "plan/recurrence_study.h"
#include "report/data_table.h"

namespace rondo {

/// All that the page is made of.
struct RecurrencePage {
  std::string summary;  ///< what the scale is
  std::string scale;    ///< its name
  std::string written;  ///< when the page was made
  std::vector<RecurrenceTable> tables;
  std::vector<RecurrenceResult> results;
  std::vector<Judgement> claims;
};

/// Losses after every number of loops: one row per model and r.
DataTable recurrence_losses(const RecurrenceTable& table,
                            std::span<const RecurrenceResult> results);
/// Values of the probes at whole loops and states, means over the seeds.
DataTable recurrence_probes(std::span<const RecurrenceResult> results);

std::string render_recurrence_page(const RecurrencePage& page);

}  // namespace rondo
