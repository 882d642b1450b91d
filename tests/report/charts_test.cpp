// What the charts show, and when there is nothing to show.
#include "report/charts.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "record/run_folder.h"
#include "tests/record/fake_runs.h"

namespace rondo {
namespace {

using test::TemporaryFolder;
using test::write_fake_comparison;
using test::write_fake_run;

RunTable read_table(const fs::path& root) {
  std::vector<RunRecord> runs;
  for (const auto& dir : find_runs(root)) runs.push_back(read_run(dir));
  return make_run_table(std::move(runs));
}

const std::string& text(const Cell& cell) { return std::get<std::string>(cell); }
double number(const Cell& cell) { return std::get<double>(cell); }

TEST(Charts, SpecsAreWholeAndLoadNothing) {
  const TemporaryFolder tmp;
  write_fake_comparison(tmp.path(), 100);
  const auto charts = all_charts(read_table(tmp.path()));
  ASSERT_EQ(charts.size(), 4u);
  std::set<std::string> names;
  for (const auto& chart : charts) {
    names.insert(chart.name);
    const Json spec = Json::parse(chart.spec);
    EXPECT_EQ(spec["$schema"], "https://vega.github.io/schema/vega-lite/v6.json");
    EXPECT_EQ(spec["width"], "container");
    ASSERT_TRUE(spec["data"]["values"].is_array());
    EXPECT_EQ(spec["data"]["values"].size(), chart.data.rows.size());
    EXPECT_TRUE(spec.contains("layer") || spec.contains("mark"));
    EXPECT_EQ(chart.spec.find("\"url\""), std::string::npos);
    for (const auto& row : chart.data.rows) EXPECT_EQ(row.size(), chart.data.columns.size());
    EXPECT_FALSE(chart.how_to_read.empty());
    EXPECT_TRUE(chart.how_to_read.ends_with('.'));
  }
  EXPECT_EQ(names, (std::set<std::string>{"depth", "loss", "results", "states"}));
}

TEST(Charts, StandaloneSpecsHaveRealColours) {
  const TemporaryFolder tmp;
  write_fake_comparison(tmp.path(), 100);
  for (const auto& chart : all_charts(read_table(tmp.path()))) {
    const std::string spec = standalone_spec(chart);
    EXPECT_EQ(spec.find("var(--"), std::string::npos) << chart.name;
    EXPECT_EQ(Json::parse(spec)["title"]["text"], chart.title);
    EXPECT_TRUE(Json::parse(spec)["width"].is_number());
  }
}

TEST(Charts, DepthSweepHasMeansRangesAndTrainedLoops) {
  const TemporaryFolder tmp;
  write_fake_comparison(tmp.path(), 100);
  const auto chart = depth_chart(read_table(tmp.path()));
  ASSERT_TRUE(chart.has_value());
  std::size_t sweep_rows = 0, levels = 0, trained = 0;
  for (const auto& row : chart->data.rows) {
    EXPECT_GE(number(row[2]), number(row[3]));
    EXPECT_LE(number(row[2]), number(row[4]));
    EXPECT_EQ(number(row[5]), 2) << "two seeds";
    if (text(row[8]) == "level") ++levels;
    if (text(row[8]) == "sweep") ++sweep_rows;
    if (text(row[0]) == "sampled-4" && text(row[7]) == "yes") ++trained;
  }
  EXPECT_EQ(sweep_rows, 3 * 8u);
  EXPECT_EQ(levels, 1u) << "the plain transformer";
  EXPECT_EQ(trained, 5u) << "1, 2, 3, 4 and 6 of the loops 1 … 7 drawn";
  EXPECT_NE(chart->how_to_read.find("dashed lines"), std::string::npos);
}

TEST(Charts, StandardErrorsAreInTheUnitOfTheMetric) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "a", {.steps = 20});
  const auto chart = depth_chart(read_table(tmp.path()));
  ASSERT_TRUE(chart.has_value());
  const auto& row = chart->data.rows[3];
  EXPECT_NEAR(number(row[6]), 0.004 / 0.693147, 1e-6) << "recorded in nats, shown in bits";
  EXPECT_NE(chart->how_to_read.find("by about 0.0058 (standard error)"), std::string::npos)
      << chart->how_to_read;
}

TEST(Charts, DepthSweepSaysWhereNoNumberCameOut) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "a", {.steps = 20});
  Json summary = Json::parse(read_file(tmp / "a/summary.json"));
  for (auto& point : summary["depth_sweep"])
    if (point["loops"] == 16) point["loss_nats"] = point["bits_per_byte"] = nullptr;
  write_file_atomically(tmp / "a/summary.json", summary.dump());
  const auto chart = depth_chart(read_table(tmp.path()));
  ASSERT_TRUE(chart.has_value());
  EXPECT_EQ(chart->data.rows.size(), 7u);
  EXPECT_NE(chart->how_to_read.find("missing: a at 16."), std::string::npos) << chart->how_to_read;
}

TEST(Charts, AnExplodingSweepGetsALogarithmicAxis) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "calm", {.steps = 20, .depth_penalty = 0.01});
  write_fake_run(tmp / "wild", {.loops = 2, .steps = 20, .depth_penalty = 10});
  const auto is_log = [](const Chart& chart) {
    return chart.spec.find(R"("scale":{"zero":false,"nice":false,"type":"log")") !=
           std::string::npos;
  };
  EXPECT_FALSE(is_log(*depth_chart(read_table(tmp / "calm"))));
  EXPECT_TRUE(is_log(*depth_chart(read_table(tmp / "wild"))));
  EXPECT_TRUE(is_log(*depth_chart(read_table(tmp.path()))));
}

TEST(Charts, LossIsThinnedByMeans) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "a", {.steps = 1000});
  const auto chart = loss_chart(read_table(tmp.path()));
  ASSERT_TRUE(chart.has_value());
  std::size_t training = 0, validation = 0;
  double seconds = 0;
  for (const auto& row : chart->data.rows) {
    if (text(row[2]) == "training") ++training;
    if (text(row[2]) == "validation") ++validation;
    EXPECT_GE(number(row[6]), 0);
    seconds = std::max(seconds, number(row[6]));
  }
  EXPECT_EQ(training, 334u) << "1000 steps in threes";
  EXPECT_EQ(validation, 10u);
  EXPECT_NEAR(seconds, 140, 1) << "1000 steps of 0.14 s";
  EXPECT_EQ(chart->data.columns[6], "seconds");
  EXPECT_NE(chart->how_to_read.find("mean of 3 steps"), std::string::npos);
}

TEST(Charts, LongRunsAreShownInHours) {
  const TemporaryFolder tmp;
  auto run = RunWriter::create(tmp / "a", Config());
  for (int step = 10; step <= 100; step += 10) {
    Json event = test::fake_step(step, 3.0);
    event["step_time_s"] = 360;
    run.append(event);
  }
  const auto chart = loss_chart(read_table(tmp.path()));
  ASSERT_TRUE(chart.has_value());
  EXPECT_EQ(chart->data.columns[6], "hours");
  EXPECT_DOUBLE_EQ(number(chart->data.rows.back()[6]), 10)
      << "every tenth step is recorded; its time stands for ten";
}

TEST(Charts, StateNormsOverTrainingForOneGroup) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "a", {.steps = 200});
  const auto chart = states_chart(read_table(tmp.path()));
  ASSERT_TRUE(chart.has_value());
  EXPECT_EQ(chart->data.rows.size(), 5 * 4u) << "five moments, four loops";
  EXPECT_EQ(text(chart->data.rows.front()[1]), "start");
  EXPECT_EQ(number(chart->data.rows.front()[2]), 1);
  EXPECT_EQ(chart->legend.size(), 5u);
}

TEST(Charts, LostRunsStayOutUnlessThereAreNoOthers) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "a-1", {.seed = 1, .steps = 40});
  write_fake_run(tmp / "a-2", {.seed = 2, .steps = 40, .stop_reason = "diverged"});
  EXPECT_EQ(number(depth_chart(read_table(tmp.path()))->data.rows[0][5]), 1);
  EXPECT_TRUE(depth_chart(read_table(tmp / "a-2")).has_value());
  EXPECT_TRUE(states_chart(read_table(tmp / "a-2")).has_value());
}

TEST(Charts, NothingToShow) {
  const TemporaryFolder tmp;
  { const auto run = RunWriter::create(tmp / "new", Config()); }
  EXPECT_TRUE(all_charts(read_table(tmp / "new")).empty());
  write_fake_run(tmp / "plain", {.loops = 1, .backward = 1, .injection = "none", .steps = 20});
  EXPECT_FALSE(depth_chart(read_table(tmp / "plain")).has_value());
  EXPECT_FALSE(states_chart(read_table(tmp / "plain")).has_value());
  EXPECT_FALSE(results_chart(read_table(tmp / "plain")).has_value());
}

TEST(Charts, ResultsAreSortedBestFirst) {
  const TemporaryFolder tmp;
  write_fake_comparison(tmp.path(), 100);
  const auto chart = results_chart(read_table(tmp.path()));
  ASSERT_TRUE(chart.has_value());
  const Json spec = Json::parse(chart->spec);
  EXPECT_EQ(spec["encoding"]["y"]["sort"],
            Json::parse(R"(["truncated-8", "looped-4", "sampled-4", "plain"])"));
  EXPECT_EQ(chart->data.rows.size(), 12u) << "eight runs, four means";
}

}  // namespace
}  // namespace rondo
