// What the charts of a law show, and when there is nothing to show.
#include "report/law_charts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "law/fit_record.h"
#include "tests/report/fake_fit.h"

namespace rondo {
namespace {

using test::fake_fit;
using test::FakeFit;

LawData data_of(const Json& json, double flops = 0) {
  return read_law_data(json, parse_fit(json.dump(), "fit.json"), flops);
}

LawData data_of(const FakeFit& options, double flops = 0) {
  return data_of(to_json(fake_fit(options)), flops);
}

std::set<std::string> names_of(const std::vector<Chart>& charts) {
  std::set<std::string> names;
  for (const auto& chart : charts) names.insert(chart.name);
  return names;
}

double number(const Chart& chart, std::size_t row, const std::string& column) {
  const auto& columns = chart.data.columns;
  const auto place = std::find(columns.begin(), columns.end(), column) - columns.begin();
  return std::get<double>(chart.data.rows[row][static_cast<std::size_t>(place)]);
}

std::string text(const Chart& chart, std::size_t row, const std::string& column) {
  const auto& columns = chart.data.columns;
  const auto place = std::find(columns.begin(), columns.end(), column) - columns.begin();
  return std::get<std::string>(chart.data.rows[row][static_cast<std::size_t>(place)]);
}

TEST(LawCharts, AllOfThemForALawOfLoops) {
  const Json json = to_json(fake_fit());
  const auto charts = law_charts(data_of(json), json);
  EXPECT_EQ(names_of(charts), (std::set<std::string>{"predicted", "cells", "residuals", "bootstrap",
                                                     "gain", "budget", "frontier", "optimum"}));
  for (const auto& chart : charts) {
    const Json spec = Json::parse(chart.spec);
    EXPECT_EQ(spec["data"]["values"].size(), chart.data.rows.size()) << chart.name;
    EXPECT_EQ(chart.spec.find("\"url\""), std::string::npos);
    for (const auto& row : chart.data.rows) EXPECT_EQ(row.size(), chart.data.columns.size());
    EXPECT_TRUE(chart.how_to_read.ends_with('.')) << chart.how_to_read;
    EXPECT_EQ(standalone_spec(chart).find("var(--"), std::string::npos) << chart.name;
    // Vega has these as signals of its own; a parameter of that name breaks the chart.
    for (const auto& parameter : spec.value("params", Json::array()))
      for (const char* taken : {"width", "height", "padding", "autosize", "background"})
        EXPECT_NE(parameter["name"], taken) << chart.name;
  }
}

TEST(LawCharts, ALawWithoutLoopsHasNoMapOfLoops) {
  const Json json = to_json(fake_fit({.law = "chinchilla", .hold_out_most_loops = false}));
  const auto charts = law_charts(data_of(json), json);
  EXPECT_EQ(names_of(charts), (std::set<std::string>{"predicted", "cells", "residuals", "bootstrap",
                                                     "frontier", "optimum"}));
  EXPECT_EQ(charts[1].title, "Residuals by compute");
  EXPECT_TRUE(charts[0].legend.empty());
}

TEST(LawCharts, GainIsTheLawsOwnDefinition) {
  const LawData data = data_of(FakeFit{});
  const auto chart = gain_chart(data, law_optima(data));
  ASSERT_TRUE(chart.has_value());
  EXPECT_EQ(chart->data.rows.size(), 8 * 9 / 2u) << "every whole B ≤ T ≤ 8";
  std::map<std::pair<double, double>, std::size_t> places;
  for (std::size_t i = 0; i < chart->data.rows.size(); ++i)
    places[{number(*chart, i, "loops"), number(*chart, i, "backward_loops")}] = i;
  EXPECT_NEAR(number(*chart, places[{1, 1}], "value"), 1, 1e-12);
  const double u = std::pow(2, 0.237 + 1.022);
  EXPECT_NEAR(number(*chart, places[{2, 2}], "value"), 1 + 2.6 * (u - 1) / (u - 1 + 2), 1e-9);
  EXPECT_EQ(text(*chart, places[{2, 1}], "rows"), "fitted");
  EXPECT_EQ(text(*chart, places[{8, 8}], "rows"), "held out");
  EXPECT_EQ(text(*chart, places[{3, 2}], "rows"), "none");
  EXPECT_LT(number(*chart, places[{4, 4}], "low"), number(*chart, places[{4, 4}], "value"));
}

TEST(LawCharts, ALawThatDoesNotSeeTruncationKeepsToWhatWasRun) {
  const LawData data = data_of(FakeFit{.law = "iso-depth"});
  const auto optima = law_optima(data);
  ASSERT_EQ(optima.size(), 8u);
  for (const auto& optimum : optima)
    EXPECT_EQ(optimum.loops.forward, optimum.loops.backward) << "not the cheapest B, 1";
  const auto chart = gain_chart(data, optima);
  ASSERT_TRUE(chart.has_value());
  EXPECT_NEAR(number(*chart, 3, "value"), std::pow(4, 0.46), 1e-9) << "(n_eff − n_once) / n_rec";
}

TEST(LawCharts, LossAtABudgetIsAtTheBestSize) {
  const double budget = 1e20;
  const LawData data = data_of(FakeFit{}, budget);
  const auto optima = law_optima(data);
  const auto chart = budget_chart(data, optima);
  ASSERT_TRUE(chart.has_value());
  EXPECT_NE(chart->how_to_read.find("1e+20 FLOPs (as asked for)"), std::string::npos);
  std::size_t best = 0;
  for (const auto& optimum : optima) {
    const auto& at = optimum.setting;
    EXPECT_NEAR(at.flops / budget, 1, 1e-9);
    EXPECT_NEAR(at.n_rec / at.n_total, 0.42, 1e-12);
    // A little smaller or larger is worse.
    for (const double factor : {0.8, 1.25}) {
      LawFunction::Point point{.n_once = at.n_once * factor,
                               .n_rec = at.n_rec * factor,
                               .loops = optimum.loops.forward,
                               .backward_loops = optimum.loops.backward,
                               .tokens = at.tokens / factor};
      EXPECT_GT((*data.function)(point), at.loss_nats) << optimum.name;
    }
  }
  for (std::size_t i = 0; i < chart->data.rows.size(); ++i) {
    EXPECT_GE(number(*chart, i, "label"), 0);
    if (text(*chart, i, "best") == "yes") {
      ++best;
      EXPECT_EQ(number(*chart, i, "label"), 0);
    }
  }
  EXPECT_EQ(best, 1u);
}

TEST(LawCharts, TheBudgetIsFromTheData) {
  const LawData data = data_of(FakeFit{});
  EXPECT_LE(data.budget, data.most_flops);
  EXPECT_GE(data.budget, data.most_flops / 10);
}

TEST(LawCharts, FrontierFallsAndHasABand) {
  const LawData data = data_of(FakeFit{});
  const auto frontiers = law_frontiers(data, law_optima(data));
  ASSERT_GE(frontiers.size(), 2u);
  EXPECT_LE(frontiers.size(), 5u);
  bool plain = false;
  for (const auto& frontier : frontiers) {
    plain = plain || (frontier.loops.forward == 1 && frontier.loops.backward == 1);
    ASSERT_EQ(frontier.settings.size(), frontiers[0].settings.size());
    for (std::size_t i = 1; i < frontier.settings.size(); ++i)
      EXPECT_LT(frontier.settings[i].loss_nats, frontier.settings[i - 1].loss_nats);
  }
  EXPECT_TRUE(plain) << "the model without loops is always there";
  ASSERT_EQ(frontiers[0].loss.size(), frontiers[0].settings.size());
  for (std::size_t i = 0; i < frontiers[0].loss.size(); ++i) {
    ASSERT_TRUE(frontiers[0].loss[i].has_value());
    EXPECT_LE(frontiers[0].loss[i]->first, frontiers[0].loss[i]->second);
  }
  EXPECT_TRUE(frontiers[1].loss.empty());
}

TEST(LawCharts, ParabolasAreOnTheFrontier) {
  Json json = to_json(fake_fit());
  Json curve = {{"budget", 7},        {"rows", 5},        {"best", 2e8},
                {"tokens", 4e9},      {"loss_nats", 3.0}, {"interval", {1e8, 3e8}},
                {"left_out", nullptr}};
  Json lost = curve;
  lost["left_out"] = "the lowest point is at the end";
  json["isoflop"] = {
      {"cells",
       {{{"varied", "n_total"}, {"loops", 2}, {"backward_loops", 2}, {"curves", {curve, lost}}},
        {{"varied", "loops"}, {"n_total", 1e8}, {"curves", {curve}}}}}};
  const LawData data = data_of(json);
  const auto chart = frontier_chart(data, law_frontiers(data, law_optima(data)), json["isoflop"]);
  ASSERT_TRUE(chart.has_value());
  std::size_t points = 0;
  for (std::size_t i = 0; i < chart->data.rows.size(); ++i) {
    if (text(*chart, i, "kind") != "parabola") continue;
    ++points;
    EXPECT_EQ(text(*chart, i, "group"), "T 2, B 2");
    // Not at the budget as the table counts it: at the law's FLOPs of this size and these tokens.
    EXPECT_NEAR(number(*chart, i, "flops"), (6 * 0.58 + 2 * 6 * 0.42) * 2e8 * 4e9, 1e8);
  }
  EXPECT_EQ(points, 1u);
}

TEST(LawCharts, ManyRowsAreThinnedButNotTheirFile) {
  const Json json = to_json(fake_fit({.copies = 200, .refits = 0}));
  const LawData data = data_of(json);
  ASSERT_GT(data.rows.size(), kMostMarks);
  for (const auto& chart : {predicted_chart(data), cells_chart(data), residuals_chart(data)}) {
    ASSERT_TRUE(chart.has_value());
    EXPECT_EQ(chart->data.rows.size(), kMostMarks) << chart->name;
    EXPECT_EQ(chart->whole.rows.size(), data.rows.size()) << chart->name;
    EXPECT_NE(chart->how_to_read.find("1500 are drawn"), std::string::npos);
  }
  const auto drawn = rows_to_draw(data);
  EXPECT_EQ(std::set<std::size_t>(drawn.begin(), drawn.end()).size(), kMostMarks) << "each once";
}

TEST(LawCharts, FarOutResidualsDoNotHideTheOthers) {
  FitResult fit = fake_fit();
  fit.table.columns.back().values[0] += 2;
  const Json json = to_json(fit);
  const auto chart = cells_chart(data_of(json));
  ASSERT_TRUE(chart.has_value());
  EXPECT_NE(chart->how_to_read.find("1 run lies beyond the ends of the axis and is drawn there."),
            std::string::npos)
      << chart->how_to_read;
  const Json spec = Json::parse(chart->spec);
  EXPECT_LT(spec["encoding"]["x"]["scale"]["domain"][1].get<double>(), 0.1);
}

TEST(LawCharts, WithoutRefitsNoBandAndNoHistograms) {
  const Json json = to_json(fake_fit({.refits = 0}));
  const auto charts = law_charts(data_of(json), json);
  EXPECT_FALSE(names_of(charts).contains("bootstrap"));
  for (const auto& chart : charts) EXPECT_EQ(chart.spec.find("\"area\""), std::string::npos);
}

TEST(LawCharts, HistogramsCountEveryRefit) {
  const Json json = to_json(fake_fit());
  const auto chart = bootstrap_chart(data_of(json), json["intervals"]);
  ASSERT_TRUE(chart.has_value());
  std::map<std::string, double> refits;
  for (std::size_t i = 0; i < chart->data.rows.size(); ++i)
    refits[text(*chart, i, "parameter")] += number(*chart, i, "refits");
  EXPECT_EQ(refits.size(), 9u);
  for (const auto& [parameter, count] : refits) EXPECT_EQ(count, 20) << parameter;
}

TEST(LawCharts, UndeterminedParametersLeaveTheRowsOnly) {
  Json json = to_json(fake_fit());
  json["parameters"]["q"] = nullptr;
  const LawData data = data_of(json);
  EXPECT_FALSE(data.function.has_value());
  EXPECT_NE(data.why_no_function.find("do not determine q"), std::string::npos);
  EXPECT_EQ(names_of(law_charts(data, json)),
            (std::set<std::string>{"predicted", "cells", "residuals", "bootstrap"}));
}

TEST(LawCharts, ALawInColumnsOfItsOwn) {
  const Json json = {{"law", "mine"},
                     {"form",
                      "law = \"mine\"\nloss = \"E + a / width\"\n[parameters]\n"
                      "E = { start = [0.1, 1.0] }\na = { start = [0.1, 1.0] }\n"},
                     {"parameters", {{"E", 1.0}, {"a", 3.0}}},
                     {"data",
                      {{"where", {"x:1", "x:2", "x:3"}},
                       {"columns", {{"width", {1.0, 2.0, 4.0}}, {"loss", {4.1, 2.4, 1.7}}}},
                       {"predicted_loss", {4.0, 2.5, nullptr}},
                       {"held_out", {false, false, false}}}}};
  const LawData data = data_of(json);
  EXPECT_EQ(data.rows.size(), 2u);
  EXPECT_EQ(data.unpredicted, 1u);
  EXPECT_EQ(names_of(law_charts(data, json)), (std::set<std::string>{"predicted"}))
      << "two rows have no structure";
  Json more = json;
  more["data"]["predicted_loss"][2] = 1.75;
  const auto chart = residuals_chart(data_of(more));
  ASSERT_TRUE(chart.has_value());
  EXPECT_EQ(chart->data.columns.back(), "width");
}

}  // namespace
}  // namespace rondo
