// The page of a diagnosis: which charts there are, that they hold the numbers, what is refused.
#include "report/diagnosis_page.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "report/diagnosis_rows.h"
#include "tests/record/fake_runs.h"

namespace rondo {
namespace {

using test::TemporaryFolder;

/// 1 + 2 × 5 + 1 layers, trained with 2 loops, with made-up values.
Json fake_diagnosis() {
  Json rows = Json::array();
  const auto add = [&](const char* probe, const std::string& site, const Json& loop, double value) {
    rows.push_back(
        {{"probe", probe}, {"site", site}, {"loop", loop}, {"lag", nullptr}, {"value", value}});
  };
  for (int loop = 0; loop <= 5; ++loop) {
    add("variance", "state", loop, std::exp(loop));
    add("logit_lens", "loss_nats", loop, 3 - 0.1 * loop);
    add("logit_lens", "agreement", loop, 0.2 * loop);
    add("gradient_flow", "state", loop, std::pow(10, loop - 5));
    if (loop == 0) continue;
    add("update", "loop", loop, 1.0 / loop);
    add("update", "core.0", loop, 0.5 / loop);
    add("update", "core.1", loop, 0.4 / loop);
    add("angle", "loop", loop, 0.3 / loop);
    add("spectral_radius", "loop", loop, 0.9);
    add("variance", "gain_inject", loop, 2.0);
    add("variance", "gain_core", loop, std::exp(1.0));
    add("variance", "gain_mix", loop, 0.5);
  }
  const auto block = [](int place) -> std::pair<std::string, Json> {
    if (place == 0) return {"prelude.0", nullptr};
    if (place == 11) return {"coda.0", nullptr};
    return {"core." + std::to_string((place - 1) % 2), (place - 1) / 2 + 1};
  };
  for (int i = 0; i < 12; ++i)
    for (int j = i + 1; j < 12; ++j) {
      add("interaction", block(j).first, block(j).second, 1.0 / (j - i));
      rows.back()["from"] = block(i).first;
      rows.back()["from_loop"] = block(i).second;
      rows.back()["change"] = 2.0 / (j - i);
    }
  for (int lag = 0; lag < 3; ++lag) {
    add("interaction", "lag", nullptr, 1.0 / (lag + 1));
    rows.back()["lag"] = lag;
    rows.back()["pairs"] = 4;
  }
  add("response", "core.1", 5, 1.0);
  add("response", "coda.0", nullptr, 0.5);
  add("response", "terminal", nullptr, 0.5);
  return {{"model", "runs/<a>"},
          {"probes", Json::array({"angle"})},
          {"loops", 5},
          {"trained_loops", 2},
          {"layers", {{"prelude", 1}, {"core", 2}, {"coda", 1}}},
          {"data", "text"},
          {"split", "validation"},
          {"sequences", 3},
          {"positions", 700},
          {"interaction_positions", 100},
          {"jacobians", 3},
          {"precision", "fp32"},
          {"notes", Json::array({"something to know"})},
          {"rows", rows}};
}

const Chart& chart_named(const std::vector<Chart>& charts, const std::string& name) {
  for (const auto& chart : charts)
    if (chart.name == name) return chart;
  throw std::logic_error(name);
}

TEST(DiagnosisPage, HasAChartForEveryProbe) {
  const auto charts = diagnosis_charts(fake_diagnosis());
  std::set<std::string> names;
  for (const auto& chart : charts) {
    names.insert(chart.name);
    EXPECT_TRUE(chart.how_to_read.ends_with('.')) << chart.name;
    const Json spec = Json::parse(chart.spec);
    EXPECT_EQ(spec["data"]["values"].size(), chart.data.rows.size());
    EXPECT_EQ(chart.spec.find("\"url\""), std::string::npos);
    EXPECT_EQ(standalone_spec(chart).find("var(--"), std::string::npos) << chart.name;
  }
  EXPECT_EQ(names,
            (std::set<std::string>{"update", "angle", "variance", "gains", "lens", "agreement",
                                   "gradients", "spectrum", "interaction", "lags", "response"}));
}

TEST(DiagnosisPage, MarksTheTrainedHorizon) {
  auto diagnosis = fake_diagnosis();
  EXPECT_NE(chart_named(diagnosis_charts(diagnosis), "update").spec.find("trained loops end"),
            std::string::npos);
  diagnosis["trained_loops"] = 5;
  for (const auto& chart : diagnosis_charts(diagnosis))
    EXPECT_EQ(chart.spec.find("trained loops end"), std::string::npos) << chart.name;
}

TEST(DiagnosisPage, GainsAddUpToTheVariance) {
  const auto charts = diagnosis_charts(fake_diagnosis());
  double sum = 0;
  for (const auto& row : chart_named(charts, "gains").data.rows)
    if (std::get<double>(row[1]) == 3) sum += std::get<double>(row[3]);
  EXPECT_NEAR(sum, std::log2(std::exp(1.0)), 1e-12);
}

TEST(DiagnosisPage, TheMatrixHasEachPairInItsPlace) {
  const auto charts = diagnosis_charts(fake_diagnosis());
  const auto& data = chart_named(charts, "interaction").data;
  EXPECT_EQ(data.rows.size(), 66U);
  for (const auto& row : data.rows) {
    const double x = std::get<double>(row[2]), y = std::get<double>(row[4]);
    EXPECT_NEAR(std::get<double>(row[6]), 1.0 / (x - y), 1e-12);
    EXPECT_NEAR(std::get<double>(row[8]), std::sqrt(1.0 / (x - y)), 1e-12);
  }
}

TEST(DiagnosisPage, StandsAlone) {
  const auto diagnosis = fake_diagnosis();
  const auto page =
      render_diagnosis_page(diagnosis, diagnosis_charts(diagnosis), "2 January 2026, 10:00 UTC");
  EXPECT_NE(page.find("1 + 2 × 5 + 1 layers"), std::string::npos);
  EXPECT_NE(page.find("something to know"), std::string::npos);
  EXPECT_NE(page.find("runs/&lt;a&gt;"), std::string::npos);
  EXPECT_EQ(page.find("<link"), std::string::npos);
  EXPECT_EQ(page.find("src="), page.find("src=", page.find("<script>")));
}

TEST(DiagnosisPage, WritesNothingOverOtherFiles) {
  const TemporaryFolder tmp;
  const auto diagnosis = fake_diagnosis();
  const auto page = write_diagnosis_page(diagnosis, tmp.path() / "p.html");
  EXPECT_EQ(read_diagnosis(tmp.path() / "p-diagnosis.json"), diagnosis);
  EXPECT_TRUE(fs::exists(tmp.path() / "p-interaction.csv"));
  EXPECT_THROW(write_diagnosis_page(diagnosis, tmp.path() / "p.safetensors"), Error);
  EXPECT_THROW(read_diagnosis(page), Error);
}

}  // namespace
}  // namespace rondo
