// The runs of the study, one after the other, then its tables and its page.
#include "cli/reproduce_rlt.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/shipped.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/reproduce_parts.h"
#include "config/recipe.h"
#include "data/task_data.h"
#include "plan/rlt_study.h"
#include "record/run_folder.h"
#include "report/claims.h"
#include "report/page_files.h"
#include "report/rlt_page.h"
#include "train/seeds.h"

namespace rondo {
namespace {

/// Lengths here by the paper's. Two of the paper's may be one here.
std::map<std::int64_t, std::int64_t> lengths_of(const RltRun& run, const Config& config) {
  const auto task = open_task(run.task);
  const auto trained =
      settle(*task, {.min = config.data.min_length, .max = config.data.max_length});
  std::map<std::int64_t, std::int64_t> lengths;
  for (const auto& set : task->test)
    lengths[set.lengths.max] = scaled_length(*task, set.lengths.max, trained);
  return lengths;
}

RltSeed seed_of(const RunRecord& run, const std::map<std::int64_t, std::int64_t>& lengths) {
  RltSeed seed{.seed = run.summary.seed,
               .validation = run.summary.accuracy,
               .course = {},
               .selected = std::llround(run.summary.selected_step),
               .test = {}};
  for (const auto& event : run.validations) seed.course[event.step] = event.accuracy;
  for (const auto& point : run.summary.length_sweep)
    for (const auto& [paper, here] : lengths)
      if (here == point.length) seed.test[{point.metric, paper}] = point.value;
  return seed;
}

bool has_failed(const RunRecord& run) {
  return run.state == RunState::kDiverged || run.state == RunState::kFailed;
}

/// What the seeds of a run have on record, of those that have not come to their end the course.
RltResult result_of(const RltRun& run, const Config& config,
                    const std::vector<RunRecord>& records) {
  RltResult result{.task = run.task, .model = run.model.name, .seeds = {}, .failed = 0};
  result.lengths = lengths_of(run, config);
  for (const auto& record : records) {
    if (has_failed(record)) {
      ++result.failed;
      continue;
    }
    if (record.state != RunState::kFinished) {
      result.unfinished.push_back(seed_of(record, result.lengths));
      continue;
    }
    result.seeds.push_back(seed_of(record, result.lengths));
    for (const auto& point : record.summary.length_sweep)
      for (const auto& [paper, here] : result.lengths)
        if (here == point.length)
          result.rates[{point.metric, paper}] = {point.chance, point.majority};
  }
  return result;
}

Config recipe_of(const RltRun& run, const RltScale& scale, const ReproduceRlt& request) {
  auto set = run.set;
  set.emplace_back("data.source=task");
  if (request.threads > 0) set.push_back(fmt::format("engine.threads={}", request.threads));
  if (request.stop_after > 0) set.push_back(fmt::format("train.stop_after={}", request.stop_after));
  return read_recipe(find_shipped(scale.recipe).string(), set);
}

fs::path run_dir(const RltRun& run, const ReproduceRlt& request) {
  return fs::path(request.out) / "runs" / run.folder;
}

/// Trains the seeds of a run that are not trained yet; false when it was interrupted.
bool train_run(const RltRun& run, const Config& config, const ReproduceRlt& request) {
  return !train_seeds(config, run.seeds,
                      {.out = run_dir(run, request),
                       .resume = true,
                       .init = {},
                       .command = command_line(),
                       .label = run.folder})
              .interrupted;
}

/// Not interrupted: what goes on later is neither a result nor a failure.
bool ended(const RunRecord& run) { return run.state == RunState::kFinished || has_failed(run); }

/// The runs that the request chooses.
std::vector<RltRun> chosen_runs(const RltScale& scale, std::span<const std::string> tables,
                                const ReproduceRlt& request) {
  const auto all = rlt_runs(scale, tables, !request.only.empty() || !request.models.empty());
  const auto in = [](const std::vector<std::string>& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
  };
  const auto check = [&](const char* option, const std::vector<std::string>& asked, auto name_of) {
    std::vector<std::string> known;
    for (const auto& run : all)
      if (!in(known, name_of(run))) known.push_back(name_of(run));
    for (const auto& name : asked)
      require(in(known, name),
              "{} {}: not among the runs of these tables at this scale; expected "
              "one of {}",
              option, one_line(name), join(known, ", "));
  };
  check("--task", request.tasks, [](const RltRun& run) { return run.task; });
  check("--model", request.models, [](const RltRun& run) { return run.model.name; });
  std::vector<RltRun> chosen;
  for (const auto& run : all)
    if ((request.tasks.empty() || in(request.tasks, run.task)) &&
        (request.models.empty() || in(request.models, run.model.name)))
      chosen.push_back(run);
  require(!chosen.empty(), "--task {} --model {}: these tables have no such run",
          join(request.tasks, ","), join(request.models, ","));
  return chosen;
}

/// Everything that this and earlier calls have trained: a page speaks of all that there is.
std::vector<RunRecord> read_study(const RltScale& scale, const ReproduceRlt& request,
                                  std::vector<RltResult>& results) {
  std::vector<std::string> names;
  for (const auto& table : rlt_tables()) names.push_back(table.name);
  std::vector<RunRecord> all;
  for (const auto& run : rlt_runs(scale, names, /*all_models=*/true)) {
    std::vector<RunRecord> records;
    for (const auto seed : run.seeds) {
      const auto dir = run_dir(run, request) / fmt::format("seed-{}", seed);
      if (!is_run(dir)) continue;
      if (auto record = read_run(dir); ended(record) || !record.validations.empty())
        records.push_back(std::move(record));
    }
    if (records.empty()) continue;
    results.push_back(result_of(run, recipe_of(run, scale, request), records));
    std::copy_if(records.begin(), records.end(), std::back_inserter(all), ended);
  }
  return all;
}

}  // namespace

void reproduce_rlt(const ReproduceRlt& request, int& status) {
  const auto& scale = rlt_scale(request.scale.empty() ? "smoke" : request.scale);
  const auto names = request.only.empty() ? scale.tables : std::vector{request.only};
  const auto runs = chosen_runs(scale, names, request);
  const fs::path out = request.out;
  log("{}: {}; models times tasks: {}; seeds {}", scale.name, scale.summary, runs.size(),
      fmt::join(scale.seeds, ", "));
  bool stopped = false;
  for (std::size_t i = 0; i < runs.size() && !stopped; ++i) {
    log("\n{} of {}: {} on {}", i + 1, runs.size(), runs[i].model.name, runs[i].task);
    stopped = !train_run(runs[i], recipe_of(runs[i], scale, request), request);
  }
  if (stopped) {
    log("stopped; the same command goes on");
    status = interrupt_exit_status();
  }
  std::vector<RltResult> results;
  auto all = read_study(scale, request, results);
  if (stopped && results.empty()) return;
  RltPage page{.scale = scale.name,
               .summary = scale.summary,
               .written = now_text(),
               .tables = {},
               .results = std::move(results),
               .claims = {},
               .runs = make_run_table(std::move(all))};
  page.claims = judge_rlt(page.results, scale.layers);
  Json tables = Json::array();
  for (const auto& table : rlt_tables()) {
    const auto in = [&](const std::vector<std::string>& list) {
      return std::find(list.begin(), list.end(), table.name) != list.end();
    };
    const bool there = std::any_of(table.cells.begin(), table.cells.end(), [&](const auto& cell) {
      return measured(page.results, cell).has_value();
    });
    if (!in(names) && !(in(scale.tables) && there)) continue;
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
