// The runs of the study, one after the other, then its tables and its page.
#include "cli/reproduce_rlt.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/shipped.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/reproduce_parts.h"
#include "config/recipe.h"
#include "plan/rlt_study.h"
#include "record/run_folder.h"
#include "report/claims.h"
#include "report/page_files.h"
#include "report/rlt_page.h"
#include "train/seeds.h"

namespace rondo {
namespace {

constexpr double kSolved = 0.99;

RltSeed seed_of(const RunRecord& run) {
  RltSeed seed{.seed = run.summary.seed,
               .validation = run.summary.accuracy,
               .selected = std::llround(run.summary.selected_step),
               .solved = {},
               .test = {}};
  for (const auto& event : run.validations)
    if (!seed.solved && event.accuracy >= kSolved) seed.solved = event.step;
  for (const auto& point : run.summary.length_sweep)
    seed.test[{point.metric, point.length}] = point.value;
  return seed;
}

/// What the seeds of a run have on record; seeds that did not finish count as failed.
RltResult result_of(const RltRun& run, const std::vector<RunRecord>& records) {
  RltResult result{.task = run.task, .model = run.model.name, .seeds = {}, .failed = 0};
  for (const auto& record : records) {
    if (record.state != RunState::kFinished) {
      ++result.failed;
      continue;
    }
    result.seeds.push_back(seed_of(record));
    for (const auto& point : record.summary.length_sweep)
      result.chance[{point.metric, point.length}] = point.chance;
  }
  return result;
}

/// Trains the seeds of a run that are not trained yet; false when it was interrupted.
bool train_run(const RltRun& run, const std::string& recipe, const ReproduceRlt& request,
               std::vector<RunRecord>& records) {
  auto set = run.set;
  set.emplace_back("data.source=task");
  if (request.threads > 0) set.push_back(fmt::format("engine.threads={}", request.threads));
  const auto done = train_seeds(read_recipe(recipe, set), run.seeds,
                                {.out = fs::path(request.out) / "runs" / run.folder,
                                 .resume = true,
                                 .init = {},
                                 .command = command_line(),
                                 .label = run.folder});
  if (done.interrupted) return false;
  for (const auto& dir : done.dirs)
    if (is_run(dir)) records.push_back(read_run(dir));
  return true;
}

}  // namespace

void reproduce_rlt(const ReproduceRlt& request, int& status) {
  const auto& scale = rlt_scale(request.scale.empty() ? "smoke" : request.scale);
  const auto names = request.only.empty() ? scale.tables : std::vector{request.only};
  const auto runs = rlt_runs(scale, names);
  require(!runs.empty(), "--only {} --scale {}: none of its models is run at this scale",
          request.only, scale.name);
  const auto recipe = find_shipped(scale.recipe).string();
  const fs::path out = request.out;
  log("{}: {}; {} models and tasks, seeds {}", scale.name, scale.summary, runs.size(),
      fmt::join(scale.seeds, ", "));
  std::vector<RltResult> results;
  std::vector<RunRecord> all;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    log("\n{} of {}: {} on {}", i + 1, runs.size(), runs[i].model.name, runs[i].task);
    std::vector<RunRecord> records;
    if (!train_run(runs[i], recipe, request, records)) {
      log("stopped; the same command goes on");
      status = interrupt_exit_status();
      return;
    }
    results.push_back(result_of(runs[i], records));
    for (auto& record : records) all.push_back(std::move(record));
  }
  RltPage page{.scale = scale.name,
               .summary = scale.summary,
               .written = now_text(),
               .tables = {},
               .results = std::move(results),
               .claims = {},
               .runs = make_run_table(std::move(all))};
  page.claims = judge_rlt(page.results);
  Json tables = Json::array();
  for (const auto& table : rlt_tables()) {
    if (std::find(names.begin(), names.end(), table.name) == names.end()) continue;
    page.tables.push_back(table);
    tables.push_back(write_table(out, table.name, rlt_table_data(table, page.results)));
  }
  tables.push_back(write_table(out, "course", rlt_course_data(page.results)));
  tables.push_back(write_table(out, "claims", claims_data(page.claims)));
  finish_study({.name = "rlt",
                .scale = scale.name,
                .out = out,
                .tables = std::move(tables),
                .claims = page.claims,
                .page = render_rlt_page(page)},
               request.json);
}

}  // namespace rondo
