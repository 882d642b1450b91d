// The page on disk: what is in it, where it lies, what it refuses, and watching a run.
#include "report/report.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/interrupt.h"
#include "base/rng.h"
#include "base/text.h"
#include "config/recipe.h"
#include "record/run_folder.h"
#include "report/words.h"
#include "tests/record/fake_runs.h"

namespace rondo {
namespace {

using test::error_of;
using test::TemporaryFolder;
using test::write_fake_comparison;
using test::write_fake_run;

fs::path write(std::vector<fs::path> dirs, const ReportOptions& options = {}) {
  return write_report(dirs, options);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// The page without the chart script, which is the same in all of them.
std::string without_bundle(const std::string& page) {
  const auto begin = page.find("</main>");
  return page.substr(0, begin);
}

TEST(Report, OneRun) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "looped-42", {.steps = 50});
  EXPECT_EQ(write({tmp / "looped-42"}), tmp / "looped-42/report.html");
  const std::string page = read_file(tmp / "looped-42/report.html");
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(has(page, "<h1>looped-42</h1>"));
  EXPECT_TRUE(has(page, "looped-42 is a looped transformer of 3.331 M parameters"));
  EXPECT_TRUE(has(page, "<dt>bits per byte</dt>"));
  EXPECT_TRUE(has(page, "One seed only for looped-42"));
  EXPECT_TRUE(has(page, "The sweep in numbers"));
  EXPECT_TRUE(has(page, "forward = 4"));
  EXPECT_TRUE(has(page, "Test CPU, 2 cores"));
  EXPECT_TRUE(has(page, "vegaEmbed"));
  for (const char* chart : {"depth", "loss", "states"})
    EXPECT_TRUE(fs::exists(tmp / fmt::format("looped-42/report-{}.vl.json", chart))) << chart;
  EXPECT_FALSE(fs::exists(tmp / "looped-42/report-loss.csv"));
}

TEST(Report, LoadsNothing) {
  const TemporaryFolder tmp;
  write_fake_comparison(tmp.path(), 50);
  const std::string page = without_bundle(read_file(write({tmp.path()})));
  EXPECT_TRUE(has(page, "default-src 'none'"));
  for (const char* part : {"src=\"", "<link", "@import", "url(", "href=\"http"})
    EXPECT_FALSE(has(page, part)) << part;
}

TEST(Report, Comparison) {
  const TemporaryFolder tmp;
  write_fake_comparison(tmp.path(), 50);
  EXPECT_EQ(write({tmp.path()}), tmp / "report.html");
  const std::string page = read_file(tmp / "report.html");
  EXPECT_TRUE(has(page, "<h1>looped-4, plain, sampled-4 and truncated-8</h1>"));
  EXPECT_TRUE(has(page, "8 runs in 4 groups. truncated-8 has the fewest bits per byte"));
  EXPECT_TRUE(has(page, "times the spread between seeds"));
  EXPECT_TRUE(has(page, "Training FLOPs are unequal"));
  EXPECT_TRUE(has(page, "Effective depth is unequal"));
  EXPECT_TRUE(has(page, "<code>loops.forward</code>"));
  EXPECT_FALSE(has(page, "<code>train.steps</code>")) << "only settings that differ";
  EXPECT_FALSE(has(page, "<code>seed</code>"));
  EXPECT_TRUE(has(page, "prefers-color-scheme:dark"));
}

TEST(Report, WhereThePageGoes) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "a/x", {.steps = 20});
  write_fake_run(tmp / "b/", {.steps = 20});
  EXPECT_EQ(write({tmp / "a/x", tmp / "b"}), tmp / "a/report.html");
  EXPECT_EQ(write({tmp / "b/", tmp / "a"}), tmp / "report.html");
  EXPECT_EQ(write({tmp / "b"}, {.out = tmp / "new/page.html"}), tmp / "new/page.html");
  EXPECT_TRUE(fs::exists(tmp / "new/page-loss.vl.json"));
  EXPECT_EQ(write({tmp / "b"}, {.out = tmp / "new"}), tmp / "new/report.html");
  EXPECT_EQ(write({tmp / "b"}, {.out = tmp / "other/"}), tmp / "other/report.html");
}

TEST(Report, ARunGivenTwiceCountsOnce) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "r/a-1", {.seed = 1, .steps = 20});
  write_fake_run(tmp / "r/a-2", {.seed = 2, .steps = 20});
  const std::string page = read_file(write({tmp / "r", tmp / "r/a-1", tmp / "r/../r/a-2"}));
  EXPECT_TRUE(has(page, "trained with 2 seeds"));
}

TEST(Report, NamesCannotInject) {
  const TemporaryFolder tmp;
  const std::string evil = "<img src=x onerror=alert(1)>";
  write_fake_run(tmp / (evil + "'\"&"), {.steps = 20, .machine = "</script><b>m</b>"});
  write_fake_run(tmp / "bad-utf8-\xff", {.loops = 3, .steps = 20});
  const fs::path path = write({tmp.path()}, {.title = "<i>t</i>", .csv = true});
  const std::string page = without_bundle(read_file(path));
  for (const char* part : {"<img", "<b>m", "<i>t", "onerror=alert(1)>"})
    EXPECT_FALSE(has(page, part)) << part;
  EXPECT_TRUE(has(page, "&lt;img src=x onerror=alert(1)&gt;"));
  EXPECT_FALSE(invalid_utf8(page).has_value());
  EXPECT_TRUE(Json::accept(read_file(tmp / "report-depth.vl.json")));
}

TEST(Report, CsvHoldsTheChartsNumbers) {
  const TemporaryFolder tmp;
  write_fake_comparison(tmp.path(), 50);
  write({tmp.path()}, {.csv = true});
  const auto lines = split(read_file(tmp / "report-depth.csv"), '\n');
  EXPECT_EQ(lines[0], "group,loops,mean,low,high,runs,stderr,trained,kind");
  EXPECT_EQ(lines.size(), 1 + 3 * 8 + 1 + 1u);
  const auto runs = split(read_file(tmp / "report-runs.csv"), '\n');
  EXPECT_TRUE(runs[0].starts_with("group,run,path,seed,state,steps,tokens,flops,parameters"));
  EXPECT_EQ(runs.size(), 1 + 8 + 1u);
  EXPECT_TRUE(runs[1].starts_with("looped-4,looped-4-42," + (tmp / "looped-4-42").string() +
                                  ",42,finished,50,204800,"))
      << runs[1];
}

TEST(Report, ErrorsAreText) {
  const TemporaryFolder tmp;
  EXPECT_TRUE(has(error_of([&] { write({tmp / "none"}); }), "none: no such folder"));
  EXPECT_TRUE(has(error_of([&] { write({tmp.path()}); }), "no runs in or below it"));
  EXPECT_TRUE(has(error_of([&] { write({}); }), "no folder given"));
  write_fake_run(tmp / "a", {.steps = 20});
  const std::string blocked =
      error_of([&] { write({tmp / "a"}, {.out = tmp / "a/config.toml/x"}); });
  EXPECT_TRUE(has(blocked, "config.toml: the folder cannot be created")) << blocked;
  std::ofstream(tmp / "a/metrics.jsonl", std::ios::app) << "rubbish\n{\"step\":21}\n";
  const std::string corrupt = error_of([&] { write({tmp / "a"}); });
  EXPECT_TRUE(has(corrupt, "metrics.jsonl:33: not a JSON object")) << corrupt;
}

TEST(Report, RunsInEveryState) {
  const TemporaryFolder tmp;
  auto running = RunWriter::create(tmp / "running", parse_recipe("", "test", {"train.steps=9"}));
  running.append(test::fake_step(1, 5.0));
  write_fake_run(tmp / "diverged", {.loops = 2, .steps = 20, .stop_reason = "diverged"});
  write_fake_run(tmp / "stopped", {.loops = 3, .steps = 20, .stop_reason = "stop_after"});
  write_fake_run(tmp / "dead", {.loops = 5, .steps = 20, .with_end = false});
  EXPECT_TRUE(has(read_file(write({tmp / "running"})), "still going: step 1 of 9."));
  EXPECT_TRUE(has(read_file(write({tmp / "diverged"})), "The run diverged at step 20."));
  EXPECT_TRUE(has(read_file(write({tmp / "stopped"})), "stopped at step 20 and can be resumed."));
  EXPECT_TRUE(has(read_file(write({tmp / "dead"})), "ended without a word at step 20."));
  const std::string page = read_file(write({tmp.path()}));
  for (const char* state : {"running", "diverged", "interrupted", "dead"})
    EXPECT_TRUE(has(page, fmt::format("<td>{}</td>", state))) << state;
}

TEST(Report, WatchRewritesUntilRunsEnd) {
  const TemporaryFolder tmp;
  set_interrupt(0);
  auto run = std::make_unique<RunWriter>(
      RunWriter::create(tmp / "a", parse_recipe("", "test", {"train.steps=9"})));
  run->append(test::fake_step(1, 5.0));
  std::thread watcher([&] { write({tmp / "a"}, {.watch = true, .watch_period_s = 0.05}); });
  const auto wait_for = [&](std::string_view part) {
    for (int i = 0; i < 200; ++i) {
      std::error_code error;
      if (fs::exists(tmp / "a/report.html", error) && has(read_file(tmp / "a/report.html"), part))
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  };
  EXPECT_TRUE(wait_for("http-equiv=\"refresh\""));
  run->append(test::fake_step(7, 4.0));
  EXPECT_TRUE(wait_for("step 7 of 9"));
  run->append({{"event", "stopped"}, {"step", 7}, {"stop_reason", "finished"}});
  run.reset();
  watcher.join();
  EXPECT_FALSE(has(read_file(tmp / "a/report.html"), "http-equiv=\"refresh\""));
}

TEST(Report, WatchEndsOnAnInterrupt) {
  const TemporaryFolder tmp;
  const auto run = RunWriter::create(tmp / "a", Config());
  std::thread interrupter([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    set_interrupt(SIGINT);
  });
  write({tmp / "a"}, {.watch = true, .watch_period_s = 60});
  interrupter.join();
  set_interrupt(0);
  EXPECT_FALSE(has(read_file(tmp / "a/report.html"), "http-equiv=\"refresh\""));
}

TEST(Report, OtherProgramsRuns) {
  const TemporaryFolder tmp;
  create_folder(tmp / "x");
  write_file_atomically(tmp / "x/config.toml", "learner = \"mine\"\nseed = 1\n");
  write_file_atomically(tmp / "x/metrics.jsonl",
                        "{\"step\":1,\"train_loss_nats\":3}\n{\"step\":2,\"train_loss_nats\":2}\n");
  const std::string page = read_file(write({tmp / "x"}));
  EXPECT_TRUE(has(page, "x is a model. In 2 steps"));
  EXPECT_TRUE(has(page, "Not a recipe of this version"));
  EXPECT_TRUE(has(page, "learner = &quot;mine&quot;"));
}

/// Numbers replaced by others that no trainer writes: a page or an rondo::Error, never a crash.
TEST(Report, OddNumbersNeverCrash) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "good", {.sampler = "uniform", .steps = 20});
  write_fake_run(tmp / "r/other", {.steps = 20});
  const std::string metrics = read_file(tmp / "good/metrics.jsonl");
  const std::string summary = read_file(tmp / "good/summary.json");
  const std::vector<std::string> odd = {"0",  "-1", "null",   "1e308", "-0.5", "9007199254740992",
                                        "[]", "{}", "1e-320", "\"x\""};
  fs::copy(tmp / "good", tmp / "r/bad", fs::copy_options::recursive);
  int pages = 0;
  for (std::uint64_t round = 0; round < 150; ++round) {
    const RandomStream random(2, "odd", round);
    std::string texts[] = {metrics, summary};
    for (std::uint64_t change = 0; change < 2; ++change) {
      std::string& text = texts[random.below(2, 4 * change)];
      const auto from = static_cast<std::size_t>(random.below(text.size(), 4 * change + 1));
      const auto at = text.find_first_of("0123456789", from);
      if (at == std::string::npos) continue;
      const auto end = text.find_first_not_of("0123456789.e+-", at);
      text.replace(at, end - at, odd[random.below(odd.size(), 4 * change + 2)]);
    }
    std::ofstream(tmp / "r/bad/metrics.jsonl", std::ios::binary) << texts[0];
    std::ofstream(tmp / "r/bad/summary.json", std::ios::binary) << texts[1];
    if (error_of([&] { write({tmp / (round % 2 == 0 ? "r" : "r/bad")}); }).empty()) ++pages;
  }
  EXPECT_GT(pages, 20);
}

}  // namespace
}  // namespace rondo
