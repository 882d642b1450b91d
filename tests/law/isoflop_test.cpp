// IsoFLOP parabolas: planted optima, what is left out, budgets, loops at a fixed size.
#include "law/isoflop.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "law/read_table.h"
#include "tests/law/planted.h"
#include "tests/record/fake_runs.h"

namespace rondo {
namespace {

using planted::add_row;
using planted::empty_table;

constexpr double kBudgets[] = {1e18, 3e18, 1e19, 1e20};

// Runs at every budget, `sizes` of them around 0.3 C^0.46 in steps of 1.5, with losses that are
// parabolas in ln n_total whose lowest point is 100 C^-0.08.
FitTable planted_sizes(double loops, double backward, int sizes, double curvature = 0.1) {
  auto table = empty_table();
  for (const double budget : kBudgets) {
    const double best = 0.3 * std::pow(budget, 0.46);
    for (int i = 0; i < sizes; ++i) {
      const double n = best * std::pow(1.5, i - 0.4 * (sizes - 1));
      const double per_token = 6 * 0.4 * n + 2 * (loops + 2 * backward) * 0.6 * n;
      const double step = std::log(n / best);
      add_row(table,
              {.n_once = 0.4 * n,
               .n_rec = 0.6 * n,
               .loops = loops,
               .backward_loops = backward,
               .tokens = budget / per_token},
              100 * std::pow(budget, -0.08) + curvature * step * step);
    }
  }
  return table;
}

TEST(IsoFlop, FindsPlantedParabolas) {
  const auto result = isoflop_frontier(planted_sizes(4, 2, 5), {.bootstrap = 0});
  ASSERT_EQ(result.cells.size(), 1U);
  const auto& cell = result.cells[0];
  EXPECT_EQ(cell.varied, "n_total");
  EXPECT_EQ(cell.name(), "T = 4, B = 2");
  EXPECT_EQ(result.budgets, "flops within 2 %");
  ASSERT_EQ(cell.curves.size(), 4U);
  EXPECT_EQ(cell.left_out, 0U);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& curve = cell.curves[i];
    EXPECT_NEAR(curve.budget / kBudgets[i], 1, 1e-12);
    EXPECT_NEAR(curve.best / (0.3 * std::pow(kBudgets[i], 0.46)), 1, 1e-9);
    EXPECT_NEAR(curve.loss, 100 * std::pow(kBudgets[i], -0.08), 1e-9);
    EXPECT_NEAR(curve.curvature, 0.2, 1e-9);
    EXPECT_NEAR(curve.tokens * curve.best * (6 * 0.4 + 16 * 0.6) / kBudgets[i], 1, 1e-9);
  }
  EXPECT_NEAR(cell.best->exponent, 0.46, 1e-9);
  EXPECT_NEAR(cell.best->coefficient, 0.3, 1e-7);
  EXPECT_NEAR(cell.tokens->exponent, 0.54, 1e-9);
  EXPECT_FALSE(cell.best->interval.has_value());
}

// Hoffmann's surface with equal exponents is even around the best size, so a parabola over sizes
// around it has its vertex there (Open-Athena/scaling-law-analysis, tests/test_chinchilla.py).
TEST(IsoFlop, FindsTheOptimumOfASymmetricLaw) {
  auto table = empty_table();
  for (const double budget : kBudgets) {
    const double best = std::sqrt(budget / 6);
    for (int i = -4; i <= 4; ++i) {
      const double n = best * std::pow(1.6, i);
      const double tokens = budget / (6 * n);
      add_row(table, {.n_once = n, .tokens = tokens},
              1.69 + 400 * std::pow(n, -0.31) + 400 * std::pow(tokens, -0.31));
    }
  }
  const auto result = isoflop_frontier(table, {.bootstrap = 0});
  ASSERT_EQ(result.cells.size(), 1U);
  EXPECT_NEAR(result.cells[0].best->exponent, 0.5, 1e-9);
  EXPECT_NEAR(result.cells[0].tokens->exponent, 0.5, 1e-9);
}

TEST(IsoFlop, IntervalsHoldThePlantedExponent) {
  auto table = planted_sizes(2, 2, 9);
  const RandomStream random(7, "noise");
  auto& losses = table.columns[6].values;
  for (std::size_t i = 0; i < losses.size(); ++i) losses[i] += 0.002 * random.normal(i);
  const auto result = isoflop_frontier(table, {.bootstrap = 200, .seed = 3});
  const auto& best = *result.cells.at(0).best;
  ASSERT_TRUE(best.interval.has_value());
  EXPECT_LT(best.interval->first, 0.46);
  EXPECT_GT(best.interval->second, 0.46);
  EXPECT_LT(best.interval->second - best.interval->first, 0.05);
  for (const auto& curve : result.cells[0].curves) EXPECT_TRUE(curve.best_interval.has_value());
  const auto again = isoflop_frontier(table, {.bootstrap = 200, .seed = 3});
  EXPECT_EQ(again.cells[0].best->interval, best.interval);
  const auto other = isoflop_frontier(table, {.bootstrap = 200, .seed = 4});
  EXPECT_NE(other.cells[0].best->interval, best.interval);
}

TEST(IsoFlop, LeavesOutBudgetsWithoutALowestPoint) {
  // Two sizes at the first budget, curved downwards at the second, all sizes too large at the
  // third; the fourth and fifth are fine.
  const auto table = parse_table(
      "n,tokens,loss,budget\n"
      "1e7,1e9,3.0,1\n2e7,5e8,3.1,1\n1e7,1e9,3.2,1\n"
      "1e7,2e9,3.0,2\n2e7,1e9,3.2,2\n4e7,5e8,3.1,2\n"
      "1e8,4e9,3.0,4\n2e8,2e9,3.1,4\n4e8,1e9,3.3,4\n"
      "1e8,8e9,3.1,8\n2e8,4e9,3.0,8\n4e8,2e9,3.1,8\n"
      "2e8,8e9,3.0,16\n4e8,4e9,2.9,16\n8e8,2e9,3.0,16\n",
      "t.csv", {});
  const auto result = isoflop_frontier(table, {.bootstrap = 50});
  ASSERT_EQ(result.cells.size(), 1U);
  const auto& cell = result.cells[0];
  EXPECT_EQ(result.budgets, "budget");
  ASSERT_EQ(cell.curves.size(), 5U);
  EXPECT_EQ(cell.left_out, 3U);
  EXPECT_EQ(cell.curves[0].problem, "2 values; a parabola takes 3");
  EXPECT_EQ(cell.curves[1].problem, "not curved upwards");
  EXPECT_EQ(cell.curves[2].problem, "lowest point below all runs");
  EXPECT_EQ(cell.curves[3].problem, "");
  EXPECT_NEAR(cell.curves[3].best, 2e8, 1);
  EXPECT_NEAR(cell.best->exponent, 1, 1e-9);  // doubles with the budget
  EXPECT_NEAR(cell.tokens->exponent, 0, 1e-9);
  const auto text = to_text(result);
  EXPECT_NE(text.find("from 2 budgets, which is a line through two points, 3 left out"), text.npos)
      << text;
  const auto json = to_json(result);
  EXPECT_EQ(json["cells"][0]["left_out"], 3);
  EXPECT_EQ(json["cells"][0]["curves"][1]["left_out"], "not curved upwards");
  EXPECT_TRUE(json["cells"][0]["curves"][0]["best"].is_null());
}

TEST(IsoFlop, OverLoopsWhereTheSizeIsFixed) {
  // D (6 n_once + 4 T n_rec) = C with B = T / 2 and T* = (C / 1e18)^0.4 · 3.
  auto table = empty_table();
  for (const double budget : {1e18, 3e18, 9e18}) {
    const double best = 3 * std::pow(budget / 1e18, 0.4);
    for (const double loops : {2.0, 4.0, 6.0, 8.0, 12.0}) {
      const double step = std::log(loops / best);
      const LawFunction::Point point{.n_once = 3e7,
                                     .n_rec = 1.4e7,
                                     .loops = loops,
                                     .backward_loops = loops / 2,
                                     .tokens = budget / (6 * 3e7 + 4 * loops * 1.4e7)};
      add_row(table, point, 3 + 0.05 * step * step);
    }
  }
  const auto result = isoflop_frontier(table, {.bootstrap = 30});
  ASSERT_EQ(result.cells.size(), 1U);
  const auto& cell = result.cells[0];
  EXPECT_EQ(cell.varied, "loops");
  EXPECT_EQ(cell.name(), "N = 4.4e+07, B = 0.5 T");
  EXPECT_NEAR(cell.best->exponent, 0.4, 1e-9);
  // A token costs a part that does not grow with T: the exponents add up to more than 1.
  EXPECT_GT(cell.tokens->exponent + 0.4, 1.05);
  EXPECT_EQ(result.cells_without_curve, 5U);  // each (T, B) has one size
}

TEST(IsoFlop, CellsAndBudgetColumns) {
  auto table = planted_sizes(1, 1, 4);
  const auto looped = planted_sizes(4, 4, 4);
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    table.columns[c].values.insert(table.columns[c].values.end(), looped.columns[c].values.begin(),
                                   looped.columns[c].values.end());
  table.origins.insert(table.origins.end(), looped.origins.begin(), looped.origins.end());
  Column stated{"stated", {}, {}};
  for (std::size_t i = 0; i < table.rows(); ++i)
    stated.values.push_back(static_cast<double>(1 + i % 16 / 4));
  table.columns.push_back(stated);
  const auto result = isoflop_frontier(table, {.bootstrap = 0, .budget_column = "stated"});
  EXPECT_EQ(result.budgets, "stated");
  ASSERT_EQ(result.cells.size(), 2U);
  EXPECT_EQ(result.cells[1].name(), "T = 4, B = 4");
  EXPECT_EQ(result.cells[1].curves.size(), 4U);
  EXPECT_EQ(result.cells[1].curves[3].budget, 4);

  const auto unknown =
      test::error_of([&] { isoflop_frontier(table, {.budget_column = "stately"}); });
  EXPECT_NE(unknown.find("did you mean stated?"), unknown.npos) << unknown;
  table.columns.back().values[2] = 0;
  const auto zero = test::error_of([&] { isoflop_frontier(table, {.budget_column = "stated"}); });
  EXPECT_NE(zero.find("planted.csv:4: column stated: 0 is no budget"), zero.npos) << zero;
}

TEST(IsoFlop, SaysWhenATableHasNoCurves) {
  const auto result = isoflop_frontier(planted_sizes(1, 1, 2), {});
  EXPECT_TRUE(result.cells.empty());
  EXPECT_EQ(result.cells_without_curve, 1U);
  EXPECT_NE(to_text(result).find("has runs of three sizes or loop counts"), std::string::npos);
}

}  // namespace
}  // namespace rondo
