// Accuracy over length: what the chart and the page's table show of runs on tasks, and how runs on
// different data share a page.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "config/recipe.h"
#include "record/run_folder.h"
#include "report/charts.h"
#include "report/page.h"
#include "report/report.h"
#include "tests/record/fake_runs.h"

namespace rondo {
namespace {

using test::TemporaryFolder;

/// A finished run on a task whose accuracies at 20, 40 and 80 are given.
void write_task_run(const fs::path& dir, std::uint64_t seed, std::vector<double> accuracies,
                    const std::string& stop_reason = "finished") {
  auto config = parse_recipe("", "recipe", {"data.source=task", "train.steps=10"});
  config.seed = seed;
  auto writer = RunWriter::create(dir, config);
  writer.append({{"step", 10}, {"train_loss_nats", 0.1}});
  writer.append({{"step", 10}, {"validation_loss_nats", 0.2}, {"accuracy", accuracies[0]}});
  writer.append({{"event", "stopped"}, {"step", 10}, {"stop_reason", stop_reason}});
  Json rows = Json::array();
  for (std::size_t i = 0; i < accuracies.size(); ++i)
    for (const char* metric : {"accuracy", "loss_nats"})
      rows.push_back({{"task", "parity"},
                      {"length", 20 << i},
                      {"loops", 1},
                      {"metric", metric},
                      {"value", accuracies[i]},
                      {"stderr", 0.01},
                      {"chance", 0.5},
                      {"majority", 0.55},
                      {"examples", 100},
                      {"trained", i < 2}});
  writer.write_summary({{"steps", 10},
                        {"seed", seed},
                        {"validation_loss_nats", 0.2},
                        {"accuracy", accuracies[0]},
                        {"selected", {{"step", 10}}},
                        {"length_sweep", rows},
                        {"stop_reason", stop_reason}});
}

RunTable read_table(const fs::path& root) {
  std::vector<RunRecord> runs;
  for (const auto& dir : find_runs(root)) runs.push_back(read_run(dir));
  return make_run_table(std::move(runs));
}

TEST(LengthChart, MeansSeedsAndLevels) {
  const TemporaryFolder tmp;
  write_task_run(tmp / "seed-1", 1, {1.0, 0.9, 0.5});
  write_task_run(tmp / "seed-2", 2, {1.0, 0.7, 0.6});
  write_task_run(tmp / "seed-3", 3, {0.1, 0.1, 0.1}, "diverged");
  const auto table = read_table(tmp.path());
  EXPECT_EQ(table.runs.front().summary.length_sweep.size(), 6U);
  EXPECT_EQ(table.runs.front().summary.selected_step, 10);
  const auto chart = length_chart(table);
  ASSERT_TRUE(chart);
  std::map<double, double> mean, sd;
  int seeds = 0, chance = 0;
  for (const auto& row : chart->data.rows) {
    const auto& kind = std::get<std::string>(row[4]);
    const double length = std::get<double>(row[3]);
    if (kind == "seed") ++seeds;
    if (kind == "chance") {
      ++chance;
      EXPECT_EQ(std::get<double>(row[5]), 0.5);
    }
    if (!kind.starts_with("mean")) continue;
    EXPECT_EQ(kind, length <= 40 ? "mean, trained" : "mean");
    mean[length] = std::get<double>(row[5]);
    sd[length] = std::get<double>(row[8]);
  }
  // The diverged run is in no mean, and is counted below the chart.
  EXPECT_EQ(seeds, 6);
  EXPECT_EQ(chance, 3);
  EXPECT_NEAR(mean.at(40), 0.8, 1e-12);
  EXPECT_NEAR(sd.at(40), std::sqrt(0.02), 1e-12);
  // Means of the finished runs at the longest length, in words.
  EXPECT_NE(chart->how_to_read.find("At length 80, where 40 was the longest trained on: "),
            std::string::npos);
  EXPECT_TRUE(chart->how_to_read.ends_with(" 55 %; guessing 50 %.")) << chart->how_to_read;
  const auto page = render_page(table, {*chart}, {});
  EXPECT_NE(page.find("80.0 ± 14.1"), std::string::npos);
  EXPECT_NE(page.find("1 / 3"), std::string::npos);
  EXPECT_NE(page.find("majority"), std::string::npos);
}

TEST(LengthChart, NothingWithoutASweep) {
  const TemporaryFolder tmp;
  test::write_fake_run(tmp / "text", {});
  EXPECT_FALSE(length_chart(read_table(tmp.path())));
}

TEST(LengthChart, RunsOnOtherDataAreAPartOfTheirOwn) {
  const TemporaryFolder tmp;
  write_task_run(tmp / "a-parity", 1, {1.0, 0.9, 0.5});
  test::write_fake_run(tmp / "text", {});
  const std::vector<fs::path> dirs = {tmp.path()};
  const auto page = read_file(write_report(dirs, {}));
  EXPECT_NE(page.find("Task parity"), std::string::npos);
  EXPECT_NE(page.find("Accuracy over length: parity"), std::string::npos);
  // Text comes first, and is not compared with the task.
  EXPECT_LT(page.find("Depth sweep"), page.find("Task parity"));
  EXPECT_EQ(page.find("Data differ"), std::string::npos);
  EXPECT_TRUE(fs::exists(tmp / "report-length-parity.vl.json"));
}

}  // namespace
}  // namespace rondo
