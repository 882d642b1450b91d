// Collecting runs, writing the page and what lies beside it.
#include "report/report.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/interrupt.h"
#include "record/table.h"
#include "report/charts.h"
#include "report/page.h"
#include "report/page_files.h"

namespace rondo {
namespace {

/// The runs in and below the folders, each once.
std::vector<fs::path> collect(std::span<const fs::path> dirs) {
  std::vector<fs::path> runs;
  std::set<fs::path> seen;
  for (const auto& dir : dirs) {
    const auto found = find_runs(dir);
    require(!found.empty(),
            "{}: no runs in or below it; expected folders with config.toml and metrics.jsonl, as "
            "`rondo train --out` makes them",
            dir.string());
    for (const auto& run : found)
      if (seen.insert(fs::weakly_canonical(run)).second) runs.push_back(run);
  }
  return runs;
}

/// The table of runs for other programs.
DataTable runs_data(const RunTable& table) {
  DataTable data;
  data.columns = {"group",
                  "run",
                  "path",
                  "seed",
                  "state",
                  "steps",
                  "tokens",
                  "flops",
                  "parameters",
                  "n_once",
                  "n_rec",
                  "loops",
                  "backward_loops",
                  "effective_depth",
                  "train_loss_nats",
                  "validation_loss_nats",
                  "bits_per_byte",
                  "accuracy",
                  "tokens_per_s",
                  "wall_s",
                  "peak_bytes"};
  for (const auto& group : table.groups)
    for (const auto i : group.runs) {
      const RunSummary& s = table.runs[i].summary;
      data.rows.push_back({group.name,
                           table.names[i],
                           table.runs[i].dir.string(),
                           s.seed,
                           std::string(word(table.runs[i].state)),
                           s.steps,
                           s.tokens,
                           s.flops,
                           s.parameters.total,
                           s.parameters.once,
                           s.parameters.recurrent,
                           group.loops,
                           group.backward_loops,
                           s.effective_depth,
                           s.train_loss_nats,
                           s.validation_loss_nats,
                           s.bits_per_byte,
                           s.accuracy,
                           s.tokens_per_s,
                           s.wall_s,
                           s.peak_bytes});
    }
  return data;
}

/// What a run's numbers compare with: runs on the same task, or on text.
std::string data_of(const RunRecord& run) {
  const bool task = run.config && run.config->data.source == DataSource::kTask;
  return task ? run.config->data.task : std::string();
}

/// The runs on text, or where there are none those on the first task; the others in `parts`.
RunTable first_table(const std::vector<RunRecord>& runs, std::vector<PagePart>& parts) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<RunRecord>> by_data;
  for (const auto& run : runs) {
    const auto data = data_of(run);
    if (!by_data.contains(data)) order.insert(data.empty() ? order.begin() : order.end(), data);
    by_data[data].push_back(run);
  }
  for (std::size_t i = 1; i < order.size(); ++i) {
    auto table = make_run_table(std::move(by_data[order[i]]));
    const auto name = fs::path(order[i]).stem().string();
    auto charts = all_charts(table);
    for (auto& chart : charts) {
      chart.name += "-" + name;
      chart.title += ": " + name;
    }
    parts.push_back({.name = name,
                     .title = "Task " + name,
                     .table = std::move(table),
                     .charts = std::move(charts)});
  }
  return make_run_table(std::move(by_data[order.front()]));
}

/// Writes everything once; says whether any run is still going.
bool write_once(std::span<const fs::path> dirs, const fs::path& page, const ReportOptions& options,
                bool last) {
  std::vector<RunRecord> runs;
  for (const auto& dir : collect(dirs)) runs.push_back(read_run(dir));
  const bool going = std::any_of(runs.begin(), runs.end(),
                                 [](const auto& run) { return run.state == RunState::kRunning; });
  std::vector<PagePart> parts;
  const RunTable table = first_table(runs, parts);
  const auto charts = all_charts(table);
  PageOptions page_options{.title = options.title, .written = now_text(), .refresh_s = 0};
  if (options.watch && going && !last)
    page_options.refresh_s = std::max(1, static_cast<int>(std::ceil(options.watch_period_s)));
  write_chart_files(page, charts, options.csv);
  for (const auto& part : parts) write_chart_files(page, part.charts, options.csv);
  if (options.csv)
    write_file_atomically(beside_page(page, "runs.csv"),
                          to_csv(runs_data(make_run_table(std::move(runs)))));
  // The page comes last: whoever sees it finds the rest.
  write_file_atomically(page, render_page(table, charts, page_options, parts));
  return going;
}

/// Sleeps, but wakes for an interrupt.
void wait(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (interrupt_signal() == 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

}  // namespace

fs::path default_page(std::span<const fs::path> dirs) {
  if (dirs.size() == 1) return dirs.front() / "report.html";
  fs::path first = dirs.front().lexically_normal();
  if (!first.has_filename()) first = first.parent_path();
  return first.parent_path() / "report.html";
}

fs::path write_report(std::span<const fs::path> dirs, const ReportOptions& options) {
  require(!dirs.empty(), "report: no folder given; expected runs or folders of runs");
  fs::path page = page_path(options.out, default_page(dirs));
  // Wrong input is said before a folder is made for the page.
  collect(dirs);
  if (page.has_parent_path()) create_folder(page.parent_path());
  bool going = write_once(dirs, page, options, false);
  while (options.watch && going && interrupt_signal() == 0) {
    wait(options.watch_period_s);
    going = write_once(dirs, page, options, interrupt_signal() != 0);
  }
  return page;
}

}  // namespace rondo
