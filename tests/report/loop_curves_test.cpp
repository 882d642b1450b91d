// Lines over loops: bands only where there are several seeds, a mark only where lines go beyond the
// trained loops.
#include "report/loop_curves.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace rondo {
namespace {

const CurveWords kWords = {
    .name = "loss", .title = "Loss", .how_to_read = "Lower is better.", .axis = "nats"};

std::size_t marks(const Chart& chart, const std::string& type) {
  std::size_t count = 0;
  const auto spec = Json::parse(chart.spec);
  for (const auto& layer : spec.at("layer")) {
    const auto& mark = layer.at("mark");
    count += (mark.is_object() ? mark.at("type") : mark) == type ? 1 : 0;
  }
  return count;
}

TEST(LoopCurves, ASingleSeedHasNoBand) {
  const auto chart = loop_curves(kWords, {{.name = "a", .points = {{1, 2.0}, {2, 1.5}}}}, NAN);
  ASSERT_TRUE(chart);
  EXPECT_EQ(chart->data.columns, (std::vector<std::string>{"series", "loop", "value"}));
  EXPECT_EQ(marks(*chart, "area"), 0U);
  EXPECT_EQ(marks(*chart, "rule"), 0U);
  EXPECT_TRUE(chart->legend.empty());
}

TEST(LoopCurves, SeedsMakeABandAndTheTrainedLoopsEndAtAMark) {
  const auto chart = loop_curves(kWords,
                                 {{.name = "a",
                                   .points = {{1, 2.0}, {2, 1.5}, {3, 1.6}},
                                   .ranges = {{1.9, 2.1}, {1.4, 1.6}, {1.5, 1.7}}},
                                  {.name = "b", .points = {{1, 3.0}, {2, 2.5}, {3, 2.0}}}},
                                 2);
  ASSERT_TRUE(chart);
  EXPECT_EQ(chart->data.columns.back(), "high");
  EXPECT_EQ(std::get<double>(chart->data.rows[0][3]), 1.9);
  EXPECT_EQ(std::get<double>(chart->data.rows[3][4]), 3.0);
  EXPECT_EQ(marks(*chart, "area"), 1U);
  EXPECT_EQ(marks(*chart, "rule"), 1U);
  EXPECT_EQ(chart->legend.size(), 2U);
}

TEST(LoopCurves, ALevelIsDrawnAndOnePointIsNoLine) {
  const auto chart = loop_curves(kWords, {{.name = "a", .points = {{1, 2.0}, {2, 1.5}}}}, NAN, 1.0);
  ASSERT_TRUE(chart);
  EXPECT_EQ(marks(*chart, "rule"), 1U);
  EXPECT_FALSE(loop_curves(kWords, {{.name = "a", .points = {{1, 2.0}}}}, NAN));
  EXPECT_FALSE(loop_curves(kWords, {}, NAN));
}

}  // namespace
}  // namespace rondo
