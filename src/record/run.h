// Reading runs back: a whole run, the runs below a folder, or only how far a run has come.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "config/config.h"
#include "record/events.h"

namespace rondo {

/// What became of a run.
enum class RunState {
  kRunning,      ///< a process holds its lock
  kFinished,     ///< it did all its steps
  kInterrupted,  ///< it saved and stopped before its last step; --resume continues
  kDiverged,     ///< its loss left the finite numbers
  kFailed,       ///< it stopped with an error, and said so
  kDead,         ///< no process holds its lock and nothing says how it ended
};
/// "running", "finished", …
std::string_view word(RunState state);

/// One run, read whole.
struct RunRecord {
  fs::path dir;
  std::optional<Config> config;  ///< nothing when config.toml is not a recipe of this version
  std::string config_text;
  std::string config_problem;  ///< why there is no config
  std::vector<StepEvent> steps;
  std::vector<ValidationEvent> validations;
  std::vector<StopEvent> stops;
  /// summary.json; what it lacks is filled from the last events and the config.
  RunSummary summary;
  RunState state = RunState::kDead;

  /// The measured depth sweep: the summary's, else that of the last validation that has one.
  [[nodiscard]] const std::vector<DepthPoint>& depth_sweep() const;
};

/// Reads the run in `dir`. Throws input errors: no folder, no run in it, corrupt metrics or summary
/// (file and line). A config.toml of another program or version is no error.
RunRecord read_run(const fs::path& dir);

/// `root` if it is a run, else every run below it, sorted with numbers in order of size; runs do
/// not nest, hidden folders and links are passed over. Throws an input error when there is no such
/// folder.
std::vector<fs::path> find_runs(const fs::path& root);

/// How far a run has come.
struct RunStatus {
  fs::path dir;
  std::int64_t step = 0;        ///< the last one recorded
  std::int64_t steps = 0;       ///< the last one to do; 0 when the config does not tell
  double loss = kNotRecorded;   ///< training loss of the last step, nats per token
  std::optional<double> eta_s;  ///< while running, once a step has been timed
  RunState state = RunState::kDead;
};

/// Reads the end of metrics.jsonl and the config only, so that a thousand runs can be watched.
/// Lines that are not whole are passed over. Throws input errors as `read_run` does for the folder.
RunStatus run_status(const fs::path& dir);

}  // namespace rondo
