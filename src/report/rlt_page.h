// The page of a repeated study: claims with their verdicts, the paper's numbers beside ours,
// curves.
#pragma once

#include <string>
#include <vector>

#include "plan/rlt_study.h"
#include "record/table.h"
#include "report/data_table.h"

namespace rondo {

/// All that the page is made of.
struct RltPage {
  std::string scale;    ///< its name
  std::string summary;  ///< what the scale is
  std::string written;  ///< when the page was made
  std::vector<RltTable> tables;
  std::vector<RltResult> results;
  std::vector<Judgement> claims;
  RunTable runs;
};

/// One row per cell: task, model, metric, length, paper's mean and SD, ours, seeds.
DataTable rlt_table_data(const RltTable& table, std::span<const RltResult> results);
/// One row per run of parity: solved-by step and selected step of every seed, unsolved ones.
DataTable rlt_course_data(std::span<const RltResult> results);

std::string render_rlt_page(const RltPage& page);

}  // namespace rondo
