// Reading runs: round trip, tolerance towards other programs, states, errors that name the place.
#include "record/run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "config/recipe.h"
#include "record/config_lines.h"
#include "record/field_names.h"
#include "record/run_folder.h"
#include "tests/record/fake_runs.h"

namespace rondo::test {
namespace {

void write_run(const fs::path& dir, std::string_view metrics, std::string_view summary = "",
               std::string_view config = "seed = 7\n") {
  create_folder(dir);
  write_file_atomically(dir / kConfigFile, config);
  write_file_atomically(dir / kMetricsFile, metrics);
  if (!summary.empty()) write_file_atomically(dir / kSummaryFile, summary);
}

TEST(Run, RoundTrip) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "a", {.seed = 5, .steps = 50});
  const RunRecord run = read_run(tmp / "a");
  ASSERT_TRUE(run.config.has_value()) << run.config_problem;
  EXPECT_EQ(run.config->seed, 5u);
  ASSERT_EQ(run.steps.size(), 50u);
  EXPECT_EQ(run.steps[9].step, 10);
  EXPECT_EQ(run.steps[9].tokens, 40960);
  EXPECT_EQ(run.steps[9].loops, 4);
  EXPECT_EQ(run.steps[9].state_norms.size(), 4u);
  ASSERT_EQ(run.validations.size(), 10u);
  EXPECT_EQ(run.depth_sweep().size(), 8u);
  EXPECT_EQ(run.depth_sweep()[1].loops, 2);
  EXPECT_EQ(run.depth_sweep()[1].stderr_nats, 0.004);
  EXPECT_EQ(run.summary.parameters.recurrent, 1.6e6);
  EXPECT_EQ(run.summary.effective_depth, 10);
  EXPECT_EQ(run.summary.seed, "5");
  EXPECT_EQ(run.summary.trained_loops_min, 4);
  EXPECT_EQ(run.summary.trained_loops_max, 4);
  EXPECT_EQ(run.summary.data_sha256, "abc");
  EXPECT_EQ(run.state, RunState::kFinished);
  EXPECT_EQ(word(run.state), "finished");
}

TEST(Run, WithoutASummaryTheEventsTell) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "a", {.sampler = "uniform", .steps = 50, .with_end = false});
  const RunRecord run = read_run(tmp / "a");
  EXPECT_EQ(run.state, RunState::kDead);
  EXPECT_EQ(run.summary.steps, 50);
  EXPECT_EQ(run.summary.tokens, 50 * 4096);
  EXPECT_NEAR(run.summary.bits_per_byte, 2.2, 0.01);
  EXPECT_EQ(run.summary.machine, "Test CPU, 2 cores");
  EXPECT_EQ(run.depth_sweep().size(), 8u) << "from the last validation";
  EXPECT_EQ(run.summary.trained_loops_min, 1);
  EXPECT_EQ(run.summary.trained_loops_max, 7);
}

TEST(Run, TornLastLineIsLeftOut) {
  const TemporaryFolder tmp;
  write_run(tmp / "a", "{\"step\":1,\"train_loss_nats\":2}\n{\"step\":2,\"train_lo");
  EXPECT_EQ(read_run(tmp / "a").steps.size(), 1u);
  write_run(tmp / "b", "{\"step\":1,\"train_loss_nats\":2}\n{\"step\":2}");
  EXPECT_EQ(read_run(tmp / "b").steps.size(), 2u) << "only the newline is missing";
  const std::string zeros(100, '\0');
  write_run(tmp / "c", "{\"step\":1,\"train_loss_nats\":2}\n" + zeros);
  EXPECT_EQ(read_run(tmp / "c").steps.size(), 1u) << "what a power cut leaves on some disks";
}

TEST(Run, OtherBadLinesAreErrorsWithFileAndLine) {
  const TemporaryFolder tmp;
  const auto message = [&](std::string_view metrics, std::string_view summary = "") {
    write_run(tmp / "a", metrics, summary);
    const std::string text = error_of([&] { read_run(tmp / "a"); });
    return text.substr(std::min(text.size(), (tmp / "a/").string().size()));
  };
  EXPECT_EQ(message("{\"step\":1}\nnonsense\n{\"step\":2}\n"),
            "metrics.jsonl:2: not a JSON object; expected one event per line");
  EXPECT_EQ(message("[1]\n"), "metrics.jsonl:1: not a JSON object; expected one event per line");
  EXPECT_EQ(message("{\"tokens\":1}\n"), "metrics.jsonl:1: step: expected a whole number");
  EXPECT_EQ(message("{\"step\":-1}\n"), "metrics.jsonl:1: step: expected a whole number");
  EXPECT_EQ(message("{\"step\":1.5}\n"), "metrics.jsonl:1: step: expected a whole number");
  EXPECT_EQ(message("{\"step\":1,\"tokens\":\"x\"}\n"),
            "metrics.jsonl:1: tokens: expected a number");
  EXPECT_EQ(message("{\"step\":1,\"by_loops\":3}\n"),
            "metrics.jsonl:1: by_loops: expected a list of objects with the key loops");
  EXPECT_EQ(message("", "{\"parameters\": \"many\"}"),
            "summary.json: parameters: expected an object or a number");
  EXPECT_EQ(message("", "{\"parameters\": {\"total\": []}}"),
            "summary.json: parameters: total: expected a number");
  EXPECT_EQ(message("", "nothing"), "summary.json: not a JSON object");
}

TEST(Run, OtherProgramsMayWriteMoreAndLess) {
  const TemporaryFolder tmp;
  write_run(tmp / "a",
            "{\"step\":1.0,\"train_loss_nats\":null,\"cat\":\"x\"}\r\n\n"
            "{\"event\":\"lunch\"}\n"
            "{\"step\":2,\"train_loss_nats\":3,\"validation_loss_nats\":4}\n",
            "{\"parameters\": 1e6, \"trained_loops\": 4, \"seed\": 3, \"extra\": {}}",
            "learner = \"mine\"\nseed = 9 # lucky\n[train]\nsteps = 10\n");
  const RunRecord run = read_run(tmp / "a");
  EXPECT_FALSE(run.config.has_value());
  EXPECT_NE(run.config_problem.find("unknown key"), std::string::npos) << run.config_problem;
  ASSERT_EQ(run.steps.size(), 2u);
  EXPECT_TRUE(std::isnan(run.steps[0].train_loss_nats));
  ASSERT_EQ(run.validations.size(), 1u) << "a line may be a step and a validation";
  EXPECT_EQ(run.summary.parameters.total, 1e6);
  EXPECT_EQ(run.summary.trained_loops_max, 4);
  EXPECT_EQ(run.summary.seed, "3");
  EXPECT_EQ(run.state, RunState::kFinished);
  EXPECT_EQ(run_status(tmp / "a").steps, 10);
}

TEST(Run, StatesFromStopReasons) {
  const TemporaryFolder tmp;
  const auto state = [&](const std::string& reason) {
    const std::string name = reason.empty() ? "none" : reason;
    write_run(tmp / name, "{\"step\":1}\n{\"event\":\"stopped\",\"step\":1,\"stop_reason\":\"" +
                              reason + "\"}\n");
    EXPECT_EQ(read_run(tmp / name).state, run_status(tmp / name).state);
    return read_run(tmp / name).state;
  };
  EXPECT_EQ(state("finished"), RunState::kFinished);
  EXPECT_EQ(state("stop_after"), RunState::kInterrupted);
  EXPECT_EQ(state("interrupted"), RunState::kInterrupted);
  EXPECT_EQ(state("diverged"), RunState::kDiverged);
  EXPECT_EQ(state("failed"), RunState::kFailed);
  write_run(tmp / "summary", "{\"step\":1}\n", "{\"stop_reason\":\"diverged\"}");
  EXPECT_EQ(read_run(tmp / "summary").state, RunState::kDiverged);
  EXPECT_EQ(run_status(tmp / "summary").state, RunState::kDiverged);
}

TEST(Run, StatusWhileRunning) {
  const TemporaryFolder tmp;
  auto run = RunWriter::create(tmp / "a", parse_recipe("", "test", {"train.steps=100"}));
  RunStatus now = run_status(tmp / "a");
  EXPECT_EQ(now.step, 0);
  EXPECT_FALSE(now.eta_s.has_value());
  for (int step = 1; step <= 60; ++step) run.append(fake_step(step, 4.0 - 0.01 * step));
  run.append({{"step", 60}, {"validation_loss_nats", 3.0}});
  now = run_status(tmp / "a");
  EXPECT_EQ(now.state, RunState::kRunning);
  EXPECT_EQ(now.step, 60);
  EXPECT_EQ(now.steps, 100);
  EXPECT_DOUBLE_EQ(now.loss, 3.4);
  ASSERT_TRUE(now.eta_s.has_value());
  EXPECT_DOUBLE_EQ(*now.eta_s, 40 * 0.25);
}

TEST(Run, StatusFindsAStepBehindLongLines) {
  const TemporaryFolder tmp;
  std::string metrics = "\n\n" + fake_step(3, 2.0).dump() + "\n";
  metrics += "{\"event\":\"note\",\"text\":\"" + std::string(100000, 'x') + "\"}\n{\"torn";
  write_run(tmp / "a", metrics);
  EXPECT_EQ(run_status(tmp / "a").step, 3);
  write_run(tmp / "b", "\n");
  EXPECT_EQ(run_status(tmp / "b").step, 0);
}

TEST(Run, FindsRunsBelowAFolder) {
  const TemporaryFolder tmp;
  for (const char* name : {"b", "a/x", "a/y", ".hidden/z", "a/x/nested"}) write_run(tmp / name, "");
  create_folder(tmp / "empty");
  fs::create_directory_symlink(tmp / "b", tmp / "link");
  fs::create_directory_symlink(tmp / "nowhere", tmp / "broken");
  const std::vector<fs::path> expected = {tmp / "a/x", tmp / "a/y", tmp / "b"};
  EXPECT_EQ(find_runs(tmp.path()), expected);
  EXPECT_EQ(find_runs(tmp / "b"), std::vector<fs::path>{tmp / "b"});
  EXPECT_TRUE(find_runs(tmp / "empty").empty());
  EXPECT_NE(error_of([&] { find_runs(tmp / "nowhere"); }).find("no such folder"),
            std::string::npos);
}

TEST(Run, RunsAreSortedAsPeopleCount) {
  const TemporaryFolder tmp;
  for (const char* name : {"l-10", "l-9", "l-2/s-11", "l-2/s-2", "l-02/s-3", "l"})
    write_run(tmp / name, "");
  const std::vector<fs::path> expected = {tmp / "l",        tmp / "l-2/s-2", tmp / "l-02/s-3",
                                          tmp / "l-2/s-11", tmp / "l-9",     tmp / "l-10"};
  EXPECT_EQ(find_runs(tmp.path()), expected);
}

TEST(Run, FoldersThatAreNoRunsSaySo) {
  const TemporaryFolder tmp;
  EXPECT_NE(error_of([&] { read_run(tmp / "none"); }).find("no such folder"), std::string::npos);
  create_folder(tmp / "a");
  EXPECT_NE(error_of([&] { read_run(tmp / "a"); }).find("it has no config.toml"),
            std::string::npos);
  EXPECT_NE(error_of([&] { run_status(tmp / "a"); }).find("not a run"), std::string::npos);
}

TEST(Run, ConfigLinesAreFlat) {
  const ConfigLines lines = config_lines(
      "seed = 1 # c\n[model] # m\nname = \"a # b\\\" #\" # x\n\n[train]\nbetas = [0.9, 0.95]");
  const ConfigLines expected = {
      {"seed", "1"}, {"model.name", "\"a # b\\\" #\""}, {"train.betas", "[0.9, 0.95]"}};
  EXPECT_EQ(lines, expected);
}

TEST(Run, FieldNames) {
  EXPECT_EQ(field_name("validation_loss_nats").label(), "validation loss (nats/token)");
  EXPECT_EQ(field_name("bits_per_byte").label(), "bits per byte");
  EXPECT_EQ(field_name("something").label(), "something");
}

/// Bytes changed, dropped, doubled: reading either works or throws rondo::Error.
TEST(Run, MutatedRecordsNeverCrash) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "good", {.steps = 10});
  const std::string metrics = read_file(tmp / "good/metrics.jsonl");
  const std::string summary = read_file(tmp / "good/summary.json");
  const std::string config = read_file(tmp / "good/config.toml");
  create_folder(tmp / "bad");
  int errors = 0;
  for (std::uint64_t round = 0; round < 400; ++round) {
    const RandomStream random(1, "mutate", round);
    std::string texts[] = {metrics, summary, config};
    for (std::uint64_t change = 0; change < 3; ++change) {
      std::string& text = texts[random.below(3, 10 * change)];
      const auto at = static_cast<std::size_t>(random.below(text.size(), 10 * change + 1));
      const auto byte = static_cast<char>(random.below(256, 10 * change + 2));
      const auto length = static_cast<std::size_t>(random.below(20, 10 * change + 3));
      switch (random.below(4, 10 * change + 4)) {
        case 0:
          text[at] = byte;
          break;
        case 1:
          text.erase(at, length);
          break;
        case 2:
          text.insert(at, text.substr(at, length));
          break;
        default:
          text.resize(at);
      }
      if (text.empty()) text = " ";
    }
    std::ofstream(tmp / "bad/metrics.jsonl", std::ios::binary) << texts[0];
    std::ofstream(tmp / "bad/summary.json", std::ios::binary) << texts[1];
    std::ofstream(tmp / "bad/config.toml", std::ios::binary) << texts[2];
    if (!error_of([&] { read_run(tmp / "bad"); }).empty()) ++errors;
    error_of([&] { run_status(tmp / "bad"); });
  }
  EXPECT_GT(errors, 50);
}

}  // namespace
}  // namespace rondo::test
