// Reading one run whole and finding runs.
#include "record/run.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "config/kinds.h"
#include "config/recipe.h"
#include "record/config_lines.h"
#include "record/run_folder.h"
#include "record/state.h"
#include "record/utf8.h"

namespace rondo {
namespace {

void set_if_unknown(double& value, double other) {
  if (std::isnan(value)) value = other;
}

void read_config(RunRecord& run) {
  const fs::path file = run.dir / kConfigFile;
  const std::string text = read_file(file);
  run.config_text = with_valid_utf8(text);
  try {
    run.config = parse_recipe(text, file.string());
  } catch (const Error& error) {
    run.config_problem = with_valid_utf8(error.what());
  }
}

/// What the config and the events tell about the whole, where the summary is silent.
void fill_summary(RunRecord& run) {
  RunSummary& summary = run.summary;
  if (!run.steps.empty()) {
    const StepEvent& last = run.steps.back();
    set_if_unknown(summary.steps, static_cast<double>(last.step));
    set_if_unknown(summary.tokens, last.tokens);
    set_if_unknown(summary.flops, last.flops);
    set_if_unknown(summary.train_loss_nats, last.train_loss_nats);
    double fewest = kNotRecorded, most = kNotRecorded;
    for (const auto& step : run.steps) {
      fewest = std::fmin(fewest, step.loops);
      most = std::fmax(most, step.loops);
    }
    set_if_unknown(summary.trained_loops_min, fewest);
    set_if_unknown(summary.trained_loops_max, most);
  }
  if (!run.validations.empty()) {
    const ValidationEvent& last = run.validations.back();
    set_if_unknown(summary.validation_loss_nats, last.validation_loss_nats);
    set_if_unknown(summary.bits_per_byte, last.bits_per_byte);
    set_if_unknown(summary.accuracy, last.accuracy);
  }
  if (run.config) {
    set_if_unknown(summary.effective_depth, static_cast<double>(effective_depth(*run.config)));
    if (summary.seed.empty()) summary.seed = std::to_string(run.config->seed);
  }
  for (const auto& [key, value] : config_lines(run.config_text))
    if (key == "seed" && summary.seed.empty()) summary.seed = value;
}

/// Order of names as people count: "loops-2" before "loops-10".
bool natural_less(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::size_t end_a = std::min(a.find_first_not_of("0123456789", i), a.size());
      const std::size_t end_b = std::min(b.find_first_not_of("0123456789", j), b.size());
      const auto number = [](std::string_view text) {
        return text.substr(std::min(text.find_first_not_of('0'), text.size()));
      };
      const auto left = number(a.substr(i, end_a - i)), right = number(b.substr(j, end_b - j));
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
      i = end_a;
      j = end_b;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  if (i == a.size() && j == b.size()) return a < b;  // they differ in leading zeros at most
  return i == a.size();
}

void check_folder(const fs::path& dir) {
  std::error_code ignored;
  require(fs::is_directory(dir, ignored), "{}: no such folder; expected a run", dir.string());
  for (const char* name : {kConfigFile, kMetricsFile})
    require(fs::is_regular_file(dir / name, ignored),
            "{}: not a run: it has no {}; expected the folder given to `rondo train --out`",
            dir.string(), name);
}

}  // namespace

std::string_view word(RunState state) {
  switch (state) {
    case RunState::kRunning:
      return "running";
    case RunState::kFinished:
      return "finished";
    case RunState::kInterrupted:
      return "interrupted";
    case RunState::kDiverged:
      return "diverged";
    case RunState::kFailed:
      return "failed";
    case RunState::kDead:
      break;
  }
  return "dead";
}

const std::vector<DepthPoint>& RunRecord::depth_sweep() const {
  static const std::vector<DepthPoint> kNone;
  if (!summary.depth_sweep.empty()) return summary.depth_sweep;
  for (auto event = validations.rbegin(); event != validations.rend(); ++event)
    if (!event->by_loops.empty()) return event->by_loops;
  return kNone;
}

RunRecord read_run(const fs::path& dir) {
  check_folder(dir);
  RunRecord run;
  run.dir = dir;
  read_config(run);
  const fs::path metrics = dir / kMetricsFile;
  Events events = parse_events(read_file(metrics), metrics.string());
  run.summary = std::move(events.started);
  run.steps = std::move(events.steps);
  run.validations = std::move(events.validations);
  run.stops = std::move(events.stops);
  const fs::path summary = dir / kSummaryFile;
  std::error_code ignored;
  const bool has_summary = fs::exists(summary, ignored);
  if (has_summary) parse_summary(read_file(summary), summary.string(), run.summary);
  if (FileLock::is_held(dir / kLockFile)) {
    run.state = RunState::kRunning;
  } else if (events.ends_with_stop) {
    run.state = state_after(run.stops.back().stop_reason);
  } else if (has_summary) {
    run.state = state_after(run.summary.stop_reason);
  }
  fill_summary(run);
  return run;
}

std::vector<fs::path> find_runs(const fs::path& root) {
  std::error_code error;
  require(fs::is_directory(root, error), "{}: no such folder; expected a run or a folder of runs",
          root.string());
  if (is_run(root)) return {root};
  std::vector<fs::path> runs;
  fs::recursive_directory_iterator walk(root, fs::directory_options::skip_permission_denied, error);
  for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
    std::error_code ignored;  // a link to nowhere, a file that has just been removed
    if (!walk->is_directory(ignored) || walk->is_symlink(ignored)) continue;
    if (walk->path().filename().string().starts_with('.')) {
      walk.disable_recursion_pending();
    } else if (is_run(walk->path())) {
      runs.push_back(walk->path());
      walk.disable_recursion_pending();
    }
  }
  require(!error, "{}: cannot be searched for runs ({})", root.string(), error.message());
  std::sort(runs.begin(), runs.end(),
            [](const auto& a, const auto& b) { return natural_less(a.string(), b.string()); });
  return runs;
}

}  // namespace rondo
