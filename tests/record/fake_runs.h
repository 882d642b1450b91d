// Run folders with plausible numbers, for tests that read what a trainer would have written.
#pragma once

#include <cstdint>
#include <string>

#include "base/files.h"
#include "base/json.h"

namespace rondo::test {

/// A folder below the system's temporary one that goes away with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

/// What a fake run looks like.
struct FakeRun {
  std::int64_t loops = 4, backward = 4;
  std::string sampler = "fixed";
  std::string injection = "dense";
  std::uint64_t seed = 42;
  std::int64_t steps = 200;
  std::int64_t core_layers = 2;
  double final_bits_per_byte = 2.2;
  double depth_penalty = 0.05;  ///< how fast the sweep worsens away from the trained loops
  std::string stop_reason = "finished";
  std::string machine = "Test CPU, 2 cores";
  std::string data_sha256 = "abc";
  bool with_end = true;  ///< the stopped event and the summary
};

/// Writes the run into `dir` through RunWriter.
void write_fake_run(const fs::path& dir, const FakeRun& run);

/// Four groups of two seeds below `root`: looped-4, sampled-4, truncated-8, plain.
void write_fake_comparison(const fs::path& root, std::int64_t steps = 200);

/// A step event of a run.
Json fake_step(std::int64_t step, double loss);

/// The message of the rondo::Error that `call` throws; empty when it throws none.
template <typename Call>
std::string error_of(Call&& call);

}  // namespace rondo::test

#include "base/error.h"

template <typename Call>
std::string rondo::test::error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}
