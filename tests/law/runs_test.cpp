// Run folders as rows of a table.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "config/recipe.h"
#include "cost/loops.h"
#include "law/read_runs.h"
#include "law/read_table.h"
#include "record/run.h"
#include "record/run_folder.h"
#include "tests/record/fake_runs.h"

namespace rondo {
namespace {

using namespace test;

FitTable read(const fs::path& root, const ReadOptions& options = {}) {
  const std::vector<fs::path> sources = {root};
  return read_tables(sources, options);
}

std::string problem(const fs::path& root) {
  return error_of([&] { read(root); });
}

TEST(Runs, EachFinishedRunIsARow) {
  const TemporaryFolder tmp;
  write_fake_comparison(tmp / "runs", 20);
  const FitTable table = read(tmp / "runs");
  const auto runs = find_runs(tmp / "runs");
  ASSERT_EQ(table.rows(), 8U);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunRecord run = read_run(runs[i]);
    const LoopCount loops = expected_loops(run.config->loops, run.config->train.steps);
    EXPECT_EQ(table.where(i), runs[i].string());
    EXPECT_EQ(table.find("run")->words[i], runs[i].string());
    EXPECT_EQ(table.numbers("n_once")[i], run.summary.parameters.once);
    EXPECT_EQ(table.numbers("n_rec")[i], run.summary.parameters.recurrent);
    EXPECT_EQ(table.numbers("loops")[i], loops.forward);
    EXPECT_EQ(table.numbers("backward_loops")[i], loops.backward);
    EXPECT_EQ(table.numbers("tokens")[i], run.summary.tokens);
    EXPECT_EQ(table.numbers("loss")[i], run.summary.validation_loss_nats);
    EXPECT_EQ(table.numbers("bits_per_byte")[i], run.summary.bits_per_byte);
    EXPECT_EQ(std::to_string(static_cast<int>(table.numbers("seed")[i])), run.summary.seed);
    EXPECT_EQ(table.numbers("d_model")[i], 256);
  }
  EXPECT_TRUE(table.notes.empty()) << join(table.notes, "\n");
  EXPECT_EQ(read(runs[3]).rows(), 1U);
}

TEST(Runs, MeansOfSampledLoops) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "a", {.loops = 6, .backward = 2, .sampler = "poisson-lognormal"});
  write_fake_run(tmp / "b", {.loops = 6, .backward = 2});
  const FitTable table = read(tmp.path());
  EXPECT_NEAR(table.numbers("loops")[0], 6, 0.2);
  EXPECT_LT(table.numbers("backward_loops")[0], 2);
  EXPECT_EQ(table.numbers("loops")[1], 6);
  EXPECT_EQ(table.numbers("backward_loops")[1], 2);
}

TEST(Runs, ThoseWithoutAResultAreNamedOrLeftOut) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "a", {.steps = 20});
  write_fake_run(tmp / "b", {.steps = 20, .stop_reason = "diverged"});
  write_fake_run(tmp / "c", {.steps = 20, .with_end = false});
  write_fake_run(tmp / "d", {.steps = 20, .stop_reason = "stop_after"});
  write_fake_run(tmp / "e", {.steps = 20});
  write_file_atomically(tmp / "e/summary.json", "{\"stop_reason\": \"finished\"}");
  const std::string root = tmp.path().string();
  EXPECT_EQ(problem(tmp.path()),
            fmt::format("{0}: 4 of 5 runs cannot be used: {0}/b (diverged), {0}/c (dead), {0}/d "
                        "(interrupted), …; expected finished runs with a held-out loss; --skip-bad "
                        "leaves the others out",
                        root));
  const FitTable table = read(tmp.path(), {.skip_bad = true});
  EXPECT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.dropped, 4U);
  EXPECT_EQ(table.notes.back(),
            fmt::format("4 left out as bad, the first: {0}/b (diverged); {0}/c (dead); {0}/d "
                        "(interrupted)",
                        root));
  const std::vector<fs::path> last = {tmp / "e"};
  EXPECT_NE(problem(tmp / "e").find("/e (no validation_loss_nats)"), std::string::npos);
  EXPECT_TRUE(error_of([&] {
                read_tables(last, {.skip_bad = true});
              }).starts_with("no rows to fit; 1 left out as bad: "));
}

TEST(Runs, ARunThatGoesOnIsNotARow) {
  const TemporaryFolder tmp;
  const auto run = RunWriter::create(tmp / "a", parse_recipe("", "test"));
  EXPECT_NE(problem(tmp / "a").find("/a (running)"), std::string::npos) << problem(tmp / "a");
}

TEST(Runs, BrokenFilesAreNamed) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "a", {.steps = 20});
  write_fake_run(tmp / "b", {.steps = 20});
  write_file_atomically(tmp / "a/summary.json", "{\"steps\": ");
  write_file_atomically(tmp / "b/config.toml", "[loops]\nforward = 4\nunheard_of = 1\n");
  const std::string message = problem(tmp.path());
  EXPECT_NE(message.find("/a (summary.json: not a JSON object)"), std::string::npos) << message;
  EXPECT_NE(message.find("/b (config.toml:3: loops.unheard_of: unknown key"), std::string::npos)
      << message;
  auto summary = Json::parse(R"({"stop_reason": "finished", "validation_loss_nats": 2.0,
                                 "tokens": 100, "parameters": 5})");
  write_file_atomically(tmp / "a/summary.json", summary.dump());
  EXPECT_NE(problem(tmp / "a").find("/a: column n_once: is missing"), std::string::npos)
      << problem(tmp / "a");
}

TEST(Runs, StandBesideTables) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "runs/a", {.steps = 20});
  write_file_atomically(tmp / "t.csv", "N,D,final,seed\n1,2,3,x\n");
  const std::vector<fs::path> sources = {tmp / "t.csv", tmp / "runs"};
  const FitTable table = read_tables(sources, {.columns = {{"loss", "final"}}});
  EXPECT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.numbers("loss")[0], 3);
  EXPECT_EQ(table.find("seed")->words, (std::vector<std::string>{"x", "42"}));
  EXPECT_EQ(table.find("run")->words[0], "");
  const std::vector<fs::path> only_runs = {tmp / "runs"};
  EXPECT_EQ(error_of([&] {
              read_tables(only_runs, {.columns = {{"loss", "final"}}});
            }),
            "--column names columns of tables, and run folders have none; leave it out");
  const std::vector<fs::path> twice = {tmp / "runs", tmp / "runs/a/"};
  EXPECT_TRUE(error_of([&] { read_tables(twice, {}); }).find("is there twice") !=
              std::string::npos);
}

TEST(Runs, SeveralTokenizersAreNoted) {
  FitTable table = parse_table("n,tokens,loss,tokenizer\n1,2,3,bytes\n1,2,3,a.model\n1,2,3,bytes\n",
                               "t.csv", {});
  EXPECT_EQ(tokenizer_note(table), "") << "rows of files do not tell";
  table.origins[0].line = table.origins[2].line = 0;
  EXPECT_EQ(tokenizer_note(table), "");
  table.origins[1].line = 0;
  EXPECT_TRUE(tokenizer_note(table).starts_with("the runs have 2 tokenizers (a.model, bytes): "));
}

TEST(Runs, ManyAreReadInParallelInOrder) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "template", {.steps = 10});
  const std::string config = read_file(tmp / "template/config.toml");
  auto summary = Json::parse(read_file(tmp / "template/summary.json"));
  constexpr int kCount = 200;
  for (int i = 0; i < kCount; ++i) {
    const fs::path dir = tmp / fmt::format("runs/run-{}", i);
    fs::create_directories(dir);
    fs::copy_file(tmp / "template/config.toml", dir / kConfigFile);
    fs::copy_file(tmp / "template/metrics.jsonl", dir / kMetricsFile);
    summary["tokens"] = 1000 + i;
    std::ofstream(dir / kSummaryFile) << summary.dump();  // without a sync of each
  }
  const FitTable table = read(tmp / "runs");
  ASSERT_EQ(table.rows(), static_cast<std::size_t>(kCount));
  EXPECT_TRUE(std::is_sorted(table.numbers("tokens").begin(), table.numbers("tokens").end()));
}

}  // namespace
}  // namespace rondo
