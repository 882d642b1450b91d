// Writing run folders: what is there after each call, who may write, what a resume keeps.
#include "record/run_folder.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "config/recipe.h"
#include "record/run.h"
#include "tests/record/fake_runs.h"

namespace rondo::test {
namespace {

Config small_config() { return parse_recipe("", "test", {"train.steps=20"}); }

void append_raw(const fs::path& dir, std::string_view text) {
  std::ofstream(dir / kMetricsFile, std::ios::app | std::ios::binary) << text;
}

std::size_t line_count(const fs::path& dir) {
  return split(read_file(dir / kMetricsFile), '\n').size() - 1;
}

TEST(RunFolder, CreateWritesTheConfigFirstAndAnEmptyRecord) {
  const TemporaryFolder tmp;
  const auto run = RunWriter::create(tmp / "a/b", small_config());
  EXPECT_EQ(read_file(tmp / "a/b/config.toml"), to_toml(small_config()));
  EXPECT_EQ(read_file(tmp / "a/b/metrics.jsonl"), "");
  EXPECT_TRUE(is_run(tmp / "a/b"));
  EXPECT_FALSE(is_run(tmp / "a"));
  EXPECT_EQ(run.checkpoints(), tmp / "a/b/checkpoints");
}

TEST(RunFolder, CreateRefusesAFolderThatHoldsARun) {
  const TemporaryFolder tmp;
  { const auto run = RunWriter::create(tmp / "a", small_config()); }
  const std::string message = error_of([&] { RunWriter::create(tmp / "a", small_config()); });
  EXPECT_EQ(message, (tmp / "a").string() +
                         ": holds a run already; continue it with --resume, or choose another "
                         "--out");
}

TEST(RunFolder, CreateTakesAFolderWithOtherFiles) {
  const TemporaryFolder tmp;
  write_file_atomically(tmp / "notes.txt", "mine");
  const auto run = RunWriter::create(tmp.path(), small_config());
  EXPECT_EQ(read_file(tmp / "notes.txt"), "mine");
}

TEST(RunFolder, CreateSaysWhyAFolderCannotBeMade) {
  const TemporaryFolder tmp;
  write_file_atomically(tmp / "file", "");
  const std::string message = error_of([&] { RunWriter::create(tmp / "file/a", small_config()); });
  EXPECT_NE(message.find("file/a: the folder cannot be created"), std::string::npos) << message;
}

TEST(RunFolder, SecondProcessIsRefused) {
  const TemporaryFolder tmp;
  const auto run = RunWriter::create(tmp / "a", small_config());
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string message = error_of([&] { RunWriter::resume(tmp / "a", 0); });
    const std::string expected = (tmp / "a").string() + ": is in use by another process";
    ::_exit(message.starts_with(expected) ? 0 : 1);
  }
  int result = 0;
  ::waitpid(child, &result, 0);
  EXPECT_EQ(WEXITSTATUS(result), 0);
}

TEST(RunFolder, AKilledProcessFreesItsRun) {
  const TemporaryFolder tmp;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto run = RunWriter::create(tmp / "a", small_config());
    run.append(fake_step(1, 3.0));
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(run_status(tmp / "a").state, RunState::kRunning);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(run_status(tmp / "a").state, RunState::kDead);
  EXPECT_NO_THROW(RunWriter::resume(tmp / "a", 1));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(RunFolder, TheLockOutlivesAMove) {
  const TemporaryFolder tmp;
  auto first = RunWriter::create(tmp / "a", small_config());
  RunWriter second = std::move(first);
  second.append(fake_step(1, 3.0));
  EXPECT_TRUE(FileLock::is_held(tmp / "a/.lock"));
  EXPECT_EQ(line_count(tmp / "a"), 1u);
}

TEST(RunFolder, EventsAreLinesThatOthersSeeAtOnce) {
  const TemporaryFolder tmp;
  auto run = RunWriter::create(tmp / "a", small_config());
  run.append({{"step", 1}, {"train_loss_nats", 5.5}});
  EXPECT_EQ(read_file(tmp / "a/metrics.jsonl"), "{\"step\":1,\"train_loss_nats\":5.5}\n");
  run.append({{"step", 2}, {"train_loss_nats", std::numeric_limits<double>::infinity()}});
  run.append({{"event", "note"}, {"text", "two\nlines and \xff"}});
  const auto lines = split(read_file(tmp / "a/metrics.jsonl"), '\n');
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[1], "{\"step\":2,\"train_loss_nats\":null}");
}

TEST(RunFolder, ResumeDropsLaterStepsAndTheTornLine) {
  const TemporaryFolder tmp;
  {
    auto run = RunWriter::create(tmp / "a", small_config());
    for (int step = 1; step <= 10; ++step) run.append(fake_step(step, 3.0));
    run.append({{"event", "stopped"}, {"step", 10}, {"stop_reason", "interrupted"}});
    run.write_summary({{"steps", 10}});
  }
  append_raw(tmp / "a", "{\"step\": 11, \"tok");
  {
    auto run = RunWriter::resume(tmp / "a", 7);
    EXPECT_EQ(line_count(tmp / "a"), 7u);
    EXPECT_FALSE(fs::exists(tmp / "a/summary.json"));
    run.append(fake_step(8, 2.5));
  }
  const RunRecord read = read_run(tmp / "a");
  ASSERT_EQ(read.steps.size(), 8u);
  EXPECT_EQ(read.steps.back().step, 8);
  EXPECT_EQ(read.steps.back().train_loss_nats, 2.5);
}

TEST(RunFolder, ResumeKeepsTheHistoryOfStops) {
  const TemporaryFolder tmp;
  {
    auto run = RunWriter::create(tmp / "a", small_config());
    run.append(fake_step(1, 3.0));
    run.append({{"event", "stopped"}, {"step", 1}, {"stop_reason", "stop_after"}});
  }
  EXPECT_EQ(run_status(tmp / "a").state, RunState::kInterrupted);
  {
    auto run = RunWriter::resume(tmp / "a", 1);
    run.append(fake_step(2, 2.5));
  }
  EXPECT_EQ(read_run(tmp / "a").stops.size(), 1u);
  EXPECT_EQ(run_status(tmp / "a").state, RunState::kDead)
      << "the second part did not say how it ended";
}

TEST(RunFolder, ResumeRefusesACorruptRecordByLine) {
  const TemporaryFolder tmp;
  {
    auto run = RunWriter::create(tmp / "a", small_config());
    run.append(fake_step(1, 3.0));
  }
  append_raw(tmp / "a", "garbage\n");
  const std::string before = read_file(tmp / "a/metrics.jsonl");
  const std::string message = error_of([&] { RunWriter::resume(tmp / "a", 1); });
  EXPECT_NE(message.find("metrics.jsonl:2: not a JSON object"), std::string::npos) << message;
  EXPECT_EQ(read_file(tmp / "a/metrics.jsonl"), before);
}

TEST(RunFolder, ResumeWithoutARunSaysSo) {
  const TemporaryFolder tmp;
  const std::string message = error_of([&] { RunWriter::resume(tmp / "none", 1); });
  EXPECT_NE(message.find("there is no run to resume"), std::string::npos) << message;
}

TEST(RunFolder, AFullDiskIsAnErrorAndLeavesNoTornLine) {
  const TemporaryFolder tmp;
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    auto run = RunWriter::create(tmp / "a", small_config());
    run.append(fake_step(1, 3.0));
    const auto size = fs::file_size(tmp / "a/metrics.jsonl");
    // A limit on the size of files fails a write half way, as a full disk does.
    const rlimit limit{size + 10, size + 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string message = error_of([&] { run.append(fake_step(2, 3.0)); });
    const bool same = fs::file_size(tmp / "a/metrics.jsonl") == size;
    const bool named = message.find("metrics.jsonl: cannot be written") != std::string::npos;
    ::_exit(same && named ? 0 : 1);
  }
  int result = 0;
  ::waitpid(child, &result, 0);
  EXPECT_EQ(WEXITSTATUS(result), 0);
}

TEST(RunFolder, ConfigAndSummaryAreReplacedWhole) {
  const TemporaryFolder tmp;
  const auto run = RunWriter::create(tmp / "a", small_config());
  Config changed = small_config();
  changed.engine.threads = 3;
  run.write_config(changed);
  EXPECT_EQ(read_recipe((tmp / "a").string()).engine.threads, 3);
  run.write_summary({{"steps", 5}, {"stop_reason", "finished"}});
  EXPECT_EQ(Json::parse(read_file(tmp / "a/summary.json"))["steps"], 5);
}

}  // namespace
}  // namespace rondo::test
