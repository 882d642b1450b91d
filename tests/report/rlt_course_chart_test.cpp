// Parity over training: our seeds and the published ones of the models that have both.
#include "report/rlt_course_chart.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace rondo {
namespace {

RltResult result_of(const std::string& task, const std::string& model) {
  RltResult result{.task = task, .model = model, .seeds = {}};
  result.seeds.push_back({.seed = "42", .course = {{100, 0.5}, {200, 1.0}}, .test = {}});
  return result;
}

TEST(RltCourseChart, OursStandBesideThePublishedOnes) {
  const std::vector<RltResult> results = {result_of("parity", "RLT-1 6+2"),
                                          result_of("parity", "RLT-0 6+2"),
                                          result_of("s5-swaps", "RLT-1 6+2")};
  const auto chart = rlt_course_chart(results);
  ASSERT_TRUE(chart);
  const auto rows_of = [&](const std::string& whose) {
    return std::count_if(chart->data.rows.begin(), chart->data.rows.end(),
                         [&](const auto& row) { return std::get<std::string>(row[1]) == whose; });
  };
  EXPECT_EQ(rows_of("here"), 2);
  EXPECT_EQ(rows_of("published"), 13 + 11 + 9) << "the three curves as far as they go";
  auto paused = results.front();
  std::swap(paused.seeds, paused.unfinished);
  EXPECT_EQ(rlt_course_chart(std::vector<RltResult>{paused})->data.rows.size(), 2U + 13 + 11 + 9);
  const auto spec = Json::parse(chart->spec);
  EXPECT_EQ(spec["params"][0]["bind"]["options"], Json::array({"RLT-1 6+2"}));
  EXPECT_EQ(spec["layer"].size(), 2U);
}

TEST(RltCourseChart, NothingWithoutPublishedRuns) {
  EXPECT_FALSE(rlt_course_chart({}));
  const std::vector<RltResult> results = {result_of("parity", "RLT-0 6+2")};
  EXPECT_FALSE(rlt_course_chart(results));
}

}  // namespace
}  // namespace rondo
