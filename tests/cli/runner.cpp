// Runs one .test file: cli_runner RONDO REPOSITORY SECONDS FILE. Exit status 0 when all of it
// holds, 1 when something does not, 2 when the file is malformed.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/cli/check.h"
#include "tests/cli/process.h"
#include "tests/cli/script.h"

namespace rondo::cli_test {
namespace {

namespace fs = std::filesystem;

// A folder for the commands, with room beside it for their output; goes away with everything in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "rondo-cli-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary folder could be made");
    root_ = name;
    fs::create_directory(commands());
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  fs::path commands() const { return root_ / "here"; }
  fs::path cache() const { return root_ / "cache"; }

 private:
  fs::path root_;
};

void set_environment(const fs::path& rondo, const fs::path& repository, const fs::path& cache) {
  const char* path = std::getenv("PATH");
  const auto self = fs::read_symlink("/proc/self/exe");
  ::setenv("PATH", fmt::format("{}:{}", rondo.parent_path().string(), path ? path : "").c_str(), 1);
  ::setenv("REPO", repository.c_str(), 1);
  ::setenv("CLI_RUNNER", self.c_str(), 1);
  // What one test finds quickest, or a user, must not decide another.
  ::setenv("RONDO_CACHE", cache.c_str(), 1);
  // A terminal's width, colours or language must not decide a test.
  ::setenv("LC_ALL", "C.UTF-8", 1);
  ::setenv("TERM", "dumb", 1);
}

void print_end_of(const char* name, const std::string& text) {
  constexpr std::size_t kMost = 2000;
  if (text.empty()) return;
  const auto tail = text.substr(text.size() - std::min(kMost, text.size()));
  fmt::print("--- {}{}\n{}{}", name, text.size() > kMost ? " (its end)" : "", tail,
             tail.ends_with('\n') ? "" : "\n");
}

// Returns the number of failures.
int run_step(const Step& step, const std::string& file, const fs::path& folder, int seconds) {
  if (!step.file_name.empty()) {
    const auto path = folder / step.file_name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << step.content;
    return 0;
  }
  const Outcome outcome = run_command(step.command, folder.string(), seconds);
  int failures = 0;
  const auto report = [&](int line, const std::string& what) {
    fmt::print("{}:{}: {}\n", file, line, what);
    ++failures;
  };
  if (outcome.timed_out) {
    report(step.line, fmt::format("took longer than {} s", seconds));
  } else if (outcome.exit_status != step.exit_status) {
    report(step.line,
           fmt::format("exit status {}, expected {}", outcome.exit_status, step.exit_status));
  }
  for (const auto& check : step.checks) {
    try {
      if (const auto failure = failure_of(check, outcome, folder.string())) {
        report(check.line, fmt::format("{} {}: {}", check.subject, check.rest, *failure));
      }
    } catch (const std::exception& error) {
      throw ScriptError(fmt::format("{}:{}: {}", file, check.line, error.what()));
    }
  }
  if (failures > 0) {
    fmt::print("$ {}\n", step.command);
    print_end_of("stdout", outcome.out);
    print_end_of("stderr", outcome.err);
  }
  return failures;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() != 5) {
    fmt::print(stderr, "usage: cli_runner RONDO REPOSITORY SECONDS FILE\n");
    return 2;
  }
  const auto steps = read_script(arguments[4]);
  const ScratchFolder scratch;
  set_environment(fs::absolute(arguments[1]), fs::absolute(arguments[2]), scratch.cache());
  int failures = 0;
  for (const auto& step : steps) {
    failures += run_step(step, arguments[4], scratch.commands(), std::stoi(arguments[3]));
  }
  return failures > 0 ? 1 : 0;
}

}  // namespace
}  // namespace rondo::cli_test

int main(int argc, char** argv) {
  try {
    return rondo::cli_test::run({argv, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
