// Making, locking and writing run folders.
#include "record/run_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/error.h"
#include "config/recipe.h"

namespace rondo {
namespace {

FileLock lock_folder(const fs::path& dir) {
  // Somebody who only asks whether the lock is held has it for a moment himself.
  for (int attempt = 0; attempt < 10; ++attempt) {
    if (auto lock = FileLock::try_lock(dir / kLockFile)) return std::move(*lock);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  fail("{}: is in use by another process; wait for it, or choose another --out", dir.string());
}

/// The lines of `text` that are events up to `step` or of no step. Throws on a bad line.
std::string events_up_to(std::string_view text, const fs::path& source, std::int64_t step) {
  std::string kept;
  std::size_t number = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t newline = text.find('\n', start);
    const bool whole = newline != std::string_view::npos;
    const std::string_view line = text.substr(start, whole ? newline - start : newline);
    start = whole ? newline + 1 : text.size();
    ++number;
    if (line.empty()) continue;
    const Json event = Json::parse(line, nullptr, false);
    if (!event.is_object()) {
      if (!whole) break;
      fail("{}:{}: not a JSON object; the run cannot go on from a corrupt record", source.string(),
           number);
    }
    const auto at = event.find("step");
    if (at != event.end() && at->is_number() && at->get<double>() > static_cast<double>(step))
      continue;
    kept += line;
    kept += '\n';
  }
  return kept;
}

}  // namespace

bool is_run(const fs::path& dir) {
  std::error_code ignored;
  return fs::is_regular_file(dir / kConfigFile, ignored) &&
         fs::is_regular_file(dir / kMetricsFile, ignored);
}

RunWriter::RunWriter(fs::path dir, FileLock lock) : dir_(std::move(dir)), lock_(std::move(lock)) {}

RunWriter::RunWriter(RunWriter&& other) noexcept
    : dir_(std::move(other.dir_)),
      lock_(std::move(other.lock_)),
      metrics_(std::exchange(other.metrics_, -1)) {}

RunWriter& RunWriter::operator=(RunWriter&& other) noexcept {
  std::swap(dir_, other.dir_);
  std::swap(lock_, other.lock_);
  std::swap(metrics_, other.metrics_);
  return *this;
}

RunWriter::~RunWriter() {
  if (metrics_ >= 0) ::close(metrics_);
}

RunWriter RunWriter::create(const fs::path& dir, const Config& config) {
  create_folder(dir);
  RunWriter run(dir, lock_folder(dir));
  const auto metrics = dir / kMetricsFile;
  const bool has_metrics = fs::exists(metrics) && fs::file_size(metrics) > 0;
  require(!fs::exists(dir / kConfigFile) && !has_metrics,
          "{}: holds a run already; continue it with --resume, or choose another --out",
          dir.string());
  // The config comes last: only with both files is the folder a run, so a kill in between leaves
  // nothing that is in the way of another start.
  run.open_metrics();
  run.write_config(config);
  return run;
}

RunWriter RunWriter::resume(const fs::path& dir, std::int64_t step) {
  require(is_run(dir), "{}: there is no run to resume; leave out --resume to start one",
          dir.string());
  RunWriter run(dir, lock_folder(dir));
  const fs::path metrics = dir / kMetricsFile;
  const std::string text = read_file(metrics);
  const std::string kept = events_up_to(text, metrics, step);
  if (kept != text) write_file_atomically(metrics, kept);
  std::error_code error;
  fs::remove(dir / kSummaryFile, error);
  if (error)
    fail_work("{}: cannot be removed ({})", (dir / kSummaryFile).string(), error.message());
  run.open_metrics();
  return run;
}

void RunWriter::open_metrics() {
  const fs::path path = dir_ / kMetricsFile;
  metrics_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (metrics_ < 0) fail_work("{}: cannot be written ({})", path.string(), std::strerror(errno));
}

void RunWriter::append(const Json& event) {
  // A string that is not UTF-8 (a path, a message of the system) must not end the run.
  const std::string line = event.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const off_t before = ::lseek(metrics_, 0, SEEK_END);
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t count = ::write(metrics_, line.data() + done, line.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const std::string why = std::strerror(errno);
      const bool restored = before >= 0 && ::ftruncate(metrics_, before) == 0;
      fail_work("{}: cannot be written ({}){}", (dir_ / kMetricsFile).string(), why,
                restored ? "" : "; its last line is torn");
    }
    done += static_cast<std::size_t>(count);
  }
}

void RunWriter::write_config(const Config& config) const {
  write_file_atomically(dir_ / kConfigFile, to_toml(config));
}

void RunWriter::write_summary(const Json& summary) const {
  write_file_atomically(dir_ / kSummaryFile,
                        summary.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace rondo
