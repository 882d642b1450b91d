// The folder of a run as the program that trains writes it: config first, then one line of metrics
// per event, a summary at the end. docs/records.md describes the files.
#pragma once

#include <cstdint>
#include <string>

#include "base/files.h"
#include "base/json.h"
#include "config/config.h"

namespace rondo {

inline constexpr const char* kConfigFile = "config.toml";
inline constexpr const char* kMetricsFile = "metrics.jsonl";
inline constexpr const char* kSummaryFile = "summary.json";
inline constexpr const char* kLockFile = ".lock";
inline constexpr const char* kCheckpointsFolder = "checkpoints";

/// Whether the folder holds a run: a config.toml and a metrics.jsonl.
bool is_run(const fs::path& dir);

/// Writes one run. Holds the folder's lock for as long as it lives, so that no second process can
/// write the same run; when the process dies, however it dies, the system frees the lock.
class RunWriter {
 public:
  /// Makes the folder and writes config.toml and an empty metrics.jsonl. Throws input errors when
  /// the folder holds a run already, is in use by another process, or cannot be written.
  static RunWriter create(const fs::path& dir, const Config& config);

  /// Opens a run to go on after `step`: events of later steps and a torn last line are dropped from
  /// metrics.jsonl, and summary.json, which spoke of an end that no longer is one, is removed. The
  /// caller has already checked whatever may refuse the resume. Throws input errors when there is
  /// no run, it is in use by another process, or its metrics are corrupt (file and line).
  static RunWriter resume(const fs::path& dir, std::int64_t step);

  RunWriter(RunWriter&& other) noexcept;
  RunWriter& operator=(RunWriter&& other) noexcept;
  RunWriter(const RunWriter&) = delete;
  RunWriter& operator=(const RunWriter&) = delete;
  ~RunWriter();

  /// Adds one event as one line of metrics.jsonl; other processes see it when this returns. Numbers
  /// that are not finite become null. Throws an error of the work when the disk is full; the file
  /// then ends with the line before.
  void append(const Json& event);

  /// Replaces config.toml, for settings that are resolved once by measurement.
  void write_config(const Config& config) const;

  /// Replaces summary.json.
  void write_summary(const Json& summary) const;

  [[nodiscard]] const fs::path& dir() const { return dir_; }
  [[nodiscard]] fs::path checkpoints() const { return dir_ / kCheckpointsFolder; }

 private:
  RunWriter(fs::path dir, FileLock lock);
  void open_metrics();

  fs::path dir_;
  FileLock lock_;
  int metrics_ = -1;
};

}  // namespace rondo
