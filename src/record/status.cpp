// How far a run has come, from the end of its metrics.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/statistics.h"
#include "config/recipe.h"
#include "record/config_lines.h"
#include "record/run_folder.h"
#include "record/state.h"

namespace rondo {
namespace {

/// Step times whose median foretells the rest.
constexpr std::size_t kTimedSteps = 20;

/// The last `size` bytes of a file, or all of it; empty when it cannot be read.
std::string read_tail(const fs::path& path, std::size_t size) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  const off_t end = ::lseek(descriptor, 0, SEEK_END);
  const off_t start = std::max<off_t>(0, end - static_cast<off_t>(size));
  std::string text(static_cast<std::size_t>(std::max<off_t>(0, end - start)), '\0');
  const ssize_t count = ::pread(descriptor, text.data(), text.size(), start);
  ::close(descriptor);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
  return text;
}

/// The newest events, read from the end of the file backwards.
struct Newest {
  std::vector<StepEvent> steps;            ///< newest first
  std::optional<std::string> stop_reason;  ///< set when the run's last event is its end
};

Newest newest_events(std::string_view tail, std::size_t wanted) {
  Newest out;
  bool last = true;
  while (!tail.empty() && out.steps.size() < wanted) {
    if (tail.back() == '\n') tail.remove_suffix(1);
    const std::size_t newline = tail.find_last_of('\n');
    const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
    Events events;
    try {
      events = parse_events(tail.substr(start), "");
    } catch (const Error&) {
      // The tail may begin inside a line; a corrupt line is the business of read_run.
    }
    tail = tail.substr(0, start);
    if (last && events.ends_with_stop) out.stop_reason = events.stops.back().stop_reason;
    last = last && events.count == 0;
    if (!events.steps.empty()) out.steps.push_back(std::move(events.steps.back()));
  }
  return out;
}

Newest read_newest(const fs::path& metrics, std::size_t wanted) {
  constexpr std::size_t kFirst = 1 << 14, kMost = 1 << 22;
  for (std::size_t size = kFirst;; size *= 4) {
    const std::string tail = read_tail(metrics, size);
    Newest newest = newest_events(tail, wanted);
    if (!newest.steps.empty() || tail.size() < size || size >= kMost) return newest;
  }
}

/// The step at which the run will stop: train.steps, or train.stop_after when that comes first.
std::int64_t target_steps(const fs::path& dir) {
  std::int64_t steps = 0, stop_after = 0;
  for (const auto& [key, value] : config_lines(read_file(dir / kConfigFile))) {
    const auto number = [&text = value] { return std::strtoll(text.c_str(), nullptr, 10); };
    if (key == "train.steps") steps = number();
    if (key == "train.stop_after") stop_after = number();
  }
  return stop_after > 0 ? std::min(steps, stop_after) : steps;
}

}  // namespace

RunState state_after(std::string_view stop_reason) {
  if (stop_reason == kStopInterrupted || stop_reason == kStopAfter) return RunState::kInterrupted;
  if (stop_reason == kStopDiverged) return RunState::kDiverged;
  if (stop_reason == kStopFailed) return RunState::kFailed;
  return RunState::kFinished;
}

RunStatus run_status(const fs::path& dir) {
  require(is_run(dir), "{}: not a run; expected a folder with {} and {}", dir.string(), kConfigFile,
          kMetricsFile);
  RunStatus out;
  out.dir = dir;
  out.steps = target_steps(dir);
  const bool running = FileLock::is_held(dir / kLockFile);
  const Newest newest = read_newest(dir / kMetricsFile, running ? kTimedSteps : 1);
  if (!newest.steps.empty()) {
    out.step = newest.steps.front().step;
    out.loss = newest.steps.front().train_loss_nats;
  }
  const fs::path summary = dir / kSummaryFile;
  std::error_code ignored;
  if (running) {
    out.state = RunState::kRunning;
    std::vector<double> times;
    for (const auto& step : newest.steps)
      if (std::isfinite(step.step_time_s)) times.push_back(step.step_time_s);
    const auto left = static_cast<double>(std::max<std::int64_t>(0, out.steps - out.step));
    if (!times.empty() && out.steps > 0) out.eta_s = left * median(times);
  } else if (newest.stop_reason) {
    out.state = state_after(*newest.stop_reason);
  } else if (fs::exists(summary, ignored)) {
    RunSummary read;
    parse_summary(read_file(summary), summary.string(), read);
    out.state = state_after(read.stop_reason);
  }
  return out;
}

}  // namespace rondo
