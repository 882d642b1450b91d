// The program as a process: killed at random moments, watched for memory, started twice on one run.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/files.h"
#include "base/rng.h"
#include "tests/cli/process.h"

namespace rondo {
namespace {

using cli_test::Outcome;
using cli_test::run_command;
using nlohmann::json;

class ProgramSlow : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("rondo-run-" + std::to_string(::getpid())) / "files";
    fs::create_directories(folder_);
    std::ofstream text(folder_ / "text.txt");
    for (int i = 0; i < 4000; ++i) text << "line " << i * i % 977 << " of " << i << "\n";
  }
  void TearDown() override { fs::remove_all(folder_.parent_path()); }

  Outcome rondo(const std::string& arguments, const std::string& before = "") const {
    return run_command(before + RONDO_BINARY " " + arguments, folder_.string(), 600);
  }
  /// Trains with the given keys; the summary.
  json train(const std::string& out, const std::string& keys) const {
    const auto done = rondo("train recipe.toml --json --out " + out + " " + keys);
    EXPECT_EQ(done.exit_status, 0) << done.err;
    return json::parse(done.out, nullptr, false);
  }
  void recipe(const std::string& text) const { std::ofstream(folder_ / "recipe.toml") << text; }

  std::string weights(const std::string& out, int step) const {
    char name[32];
    std::snprintf(name, sizeof name, "step-%08d", step);
    return sha256_of_file(folder_ / out / "checkpoints" / name / "model.safetensors");
  }
  /// Step lines of metrics.jsonl without the times they took.
  std::vector<std::string> steps(const std::string& out) const {
    std::ifstream in(folder_ / out / "metrics.jsonl");
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) {
      auto event = json::parse(line);
      if (!event.contains("train_loss_nats")) continue;
      event.erase("step_time_s");
      lines.push_back(event.dump());
    }
    return lines;
  }

  fs::path folder_;
};

constexpr const char* kSmall = R"(
[model]
d_model = 32
heads = 2
[loops]
forward = 3
backward = 2
sampler = "poisson-lognormal"
[data]
path = "text.txt"
sequence_length = 32
validation_tokens = 512
[train]
steps = 60
batch = 8
micro_batch = 2
warmup_steps = 5
validate_every = 9
checkpoint_every = 4
[engine]
threads = 1
)";

TEST_F(ProgramSlow, EveryContinuationAfterAKillIsBitEqual) {
  recipe(kSmall);
  const auto whole = train("whole", "");
  const auto wanted = weights("whole", 60);
  const double seconds = whole["wall_s"];
  const RandomStream random(11, "kill");
  int killed = 0;
  for (std::uint64_t trial = 0; killed < 20 && trial < 80; ++trial) {
    const std::string out = "killed-" + std::to_string(trial);
    // The first kills fall into the start, where the folder is being made, the others anywhere.
    const double moment = (0.15 + 1.1 * random.uniform(trial)) * (seconds + 0.6);
    const auto first =
        rondo("train recipe.toml --out " + out, "timeout -s KILL " + std::to_string(moment) + " ");
    if (first.exit_status == 0) continue;
    ++killed;
    // Killed before the run existed: there is nothing to resume.
    const bool exists = fs::exists(folder_ / out / "metrics.jsonl");
    const auto second = rondo("train recipe.toml --out " + out + (exists ? " --resume" : ""));
    ASSERT_EQ(second.exit_status, 0) << second.err;
    ASSERT_EQ(weights(out, 60), wanted) << "killed after " << moment << " s";
    ASSERT_EQ(steps(out), steps("whole")) << "killed after " << moment << " s";
    fs::remove_all(folder_ / out);
  }
  EXPECT_EQ(killed, 20);
}

constexpr const char* kWide = R"(
[model]
d_model = 256
heads = 4
core_layers = 2
[data]
path = "text.txt"
sequence_length = 256
validation_tokens = 2048
[train]
steps = 4
batch = 8
micro_batch = 8
warmup_steps = 1
validate_every = 0
)";

TEST_F(ProgramSlow, PeakMemoryFollowsBackwardLoops) {
  recipe(kWide);
  const auto peak = [&](const std::string& out, int forward, int backward) {
    const auto summary = train(out, "--set loops.forward=" + std::to_string(forward) +
                                        " --set loops.backward=" + std::to_string(backward) +
                                        " --set train.stop_after=3");
    return summary["peak_bytes"].get<double>();
  };
  const double two = peak("two", 2, 2), sixteen = peak("sixteen", 16, 2),
               full = peak("full", 16, 16);
  RecordProperty("ratio", std::to_string(sixteen / two));
  EXPECT_LE(sixteen / two, 1.1) << sixteen << " against " << two;
  EXPECT_GE(full / two, 1.5) << "the measure would not see what truncation saves";
}

TEST_F(ProgramSlow, ResidentMemoryIsFlatOverAThousandSteps) {
  recipe(std::string(kSmall) + "\n");
  const std::string keys =
      "--set train.steps=1000 --set train.validate_every=50 --set train.checkpoint_every=250 "
      "--set train.keep_best=false";
  // Resident memory is read from outside, at a tenth of the run and near its end.
  const auto done = run_command("(" RONDO_BINARY " train recipe.toml --out flat " + keys +
                                    " 2>/dev/null >/dev/null & pid=$!; "
                                    "while kill -0 $pid 2>/dev/null; do "
                                    "  n=$(wc -l < flat/metrics.jsonl 2>/dev/null || echo 0); "
                                    "  r=$(awk '/VmRSS/{print $2}' /proc/$pid/status 2>/dev/null); "
                                    "  [ -n \"$r\" ] && echo $n $r; sleep 0.05; done; wait $pid)",
                                folder_.string(), 600);
  ASSERT_EQ(done.exit_status, 0) << done.err;
  std::istringstream in(done.out);
  double early = 0, late = 0;
  for (double lines = 0, kilobytes = 0; in >> lines >> kilobytes;) {
    if (lines >= 100 && lines <= 300) early = std::max(early, kilobytes);
    // The depth sweep after the last step is another kind of work; it is left out.
    if (lines >= 700 && lines <= 1000) late = std::max(late, kilobytes);
  }
  ASSERT_GT(early, 0);
  ASSERT_GT(late, 0);
  RecordProperty("drift", std::to_string(late / early - 1.0));
  EXPECT_LE(late / early, 1.02);
}

TEST_F(ProgramSlow, ASecondProcessIsTurnedAway) {
  recipe(kSmall);
  const auto done = run_command(
      "(" RONDO_BINARY
      " train recipe.toml --out run --set train.steps=2000 2>/dev/null & pid=$!; "
      "while kill -0 $pid && [ ! -s run/metrics.jsonl ]; do sleep 0.05; done; " RONDO_BINARY
      " train recipe.toml --out run --resume --set train.steps=2000 >&2; echo status $?; "
      "kill -INT $pid; wait $pid; echo first $?)",
      folder_.string(), 120);
  EXPECT_NE(done.out.find("status 2"), std::string::npos) << done.out;
  EXPECT_NE(done.out.find("first 130"), std::string::npos) << done.out;
  EXPECT_NE(done.err.find("another process"), std::string::npos) << done.err;
}

}  // namespace
}  // namespace rondo
