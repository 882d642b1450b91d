// Fits: planted laws recovered, units that do not matter, what data do not determine, bad input.
#include "law/fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "law/objective.h"
#include "tests/law/planted.h"
#include "tests/record/fake_runs.h"

namespace rondo {
namespace {

using test::error_of;

struct Planted {
  const char* law;
  std::vector<double> parameters;
};

class Recovery : public ::testing::TestWithParam<Planted> {};

TEST_P(Recovery, NoiselessRunsGiveTheLawBack) {
  const auto& [law, parameters] = GetParam();
  const auto form = find_law(law);
  const auto table = planted::runs(form, parameters, planted::grid(), 8, 0, 5);
  const auto fit = fit_law(form, table, {.starts = 60, .holdout = "loops >= 16 or tokens > 1e11"});
  for (std::size_t i = 0; i < parameters.size(); ++i)
    EXPECT_NEAR(fit.parameters[i], parameters[i], 1e-5 * std::abs(parameters[i]))
        << law << ' ' << form.parameters[i].name;
  ASSERT_TRUE(fit.holdout.has_value());
  EXPECT_LT(fit.holdout->rmse_nats, 1e-4);
  EXPECT_GT(fit.holdout->points, 20u);
  EXPECT_NEAR(fit.holdout->r2, 1, 1e-9);
  EXPECT_TRUE(fit.statements.empty());
  EXPECT_NEAR(fit.recurrent_share, 0.42, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(
    Laws, Recovery,
    ::testing::Values(Planted{"chinchilla", {1.7, 400, 0.34, 2000, 0.37}},
                      Planted{"joint", planted::kJoint},
                      Planted{"joint-k1", {1.7, 400, 0.312, 2000, 0.398, 1.7, 0.237, 1.022}},
                      Planted{"iso-depth", {1.57, 60, 0.22, 1200, 0.37, 0.46}},
                      Planted{"bounded", {1.7, 400, 0.31, 2000, 0.4, 2.3, 5.5}},
                      Planted{"parcae", {1.7, 400, 0.31, 2000, 0.4}}),
    [](const auto& test) {
      std::string name = test.param.law;
      std::erase(name, '-');
      return name;
    });

TEST(Fit, UnitsOfTheTableDoNotMatter) {
  const auto form = find_law("joint");
  auto table = planted::runs(form, planted::kJoint, planted::grid(), 8, 0.003, 1);
  const auto fit = fit_law(form, table, {.starts = 40});
  for (auto& column : table.columns) {
    const double unit = column.name == "n_once" || column.name == "n_rec" ? 1e6
                        : column.name == "tokens"                         ? 1e9
                        : column.name == "loss"                           ? 0.7
                                                                          : 1;
    for (auto& value : column.values) value /= unit;
  }
  const auto scaled = fit_law(form, table, {.starts = 40});
  EXPECT_NEAR(scaled.objective, fit.objective, 1e-12);
  for (const char* name : {"alpha", "beta", "G", "K", "p", "q"}) {
    const auto i = form.parameter(name);
    EXPECT_NEAR(scaled.parameters[i], fit.parameters[i], 1e-6 * fit.parameters[i]) << name;
  }
}

TEST(Fit, GradientOfTheObjectiveEqualsDifferences) {
  const auto form = find_law("joint");
  const auto table = planted::runs(form, planted::kJoint, planted::grid(), 2, 0.01, 1);
  Objective objective(form, table, standard_of(form, table), 1e-2, 3);
  auto at = objective.free_numbers(
      standard_of(form, table).standardised(form, std::vector<double>(planted::kJoint)));
  for (auto& number : at) number += 0.02;
  std::vector<double> gradient(at.size());
  double value = 0;
  ASSERT_TRUE(objective.evaluate(at.data(), &value, gradient.data()));
  for (std::size_t i = 0; i < at.size(); ++i) {
    double above = 0, below = 0;
    auto moved = at;
    moved[i] += 1e-6;
    objective.evaluate(moved.data(), &above, nullptr);
    moved[i] -= 2e-6;
    objective.evaluate(moved.data(), &below, nullptr);
    EXPECT_NEAR(gradient[i], (above - below) / 2e-6, 1e-6 * std::abs(gradient[i]) + 1e-9) << i;
  }
}

TEST(Fit, ParametersThatTheDataDoNotDetermineAreNamed) {
  const auto form = find_law("joint");
  const std::vector<std::pair<double, double>> full = {{1, 1}, {2, 2}, {4, 4}, {8, 8}};
  const auto untruncated = fit_law(form, planted::runs(form, planted::kJoint, full, 20, 0.003, 2),
                                   {.starts = 40, .bootstrap = 20});
  for (std::size_t i = 0; i < form.parameters.size(); ++i) {
    const auto& name = form.parameters[i].name;
    EXPECT_EQ(untruncated.identified[i], name != "p" && name != "q") << name;
    EXPECT_EQ(untruncated.intervals[i].has_value(), name != "p" && name != "q") << name;
  }
  ASSERT_EQ(untruncated.statements.size(), 1u);
  EXPECT_EQ(untruncated.statements[0],
            "these data do not determine p, q: other values of them predict every run equally well "
            "(no run is truncated: backward_loops equals loops in every row)");

  const auto plain =
      fit_law(form, planted::runs(form, planted::kJoint, {{1, 1}}, 40, 0.003, 2), {.starts = 40});
  EXPECT_FALSE(plain.identified[form.parameter("G")]);
  EXPECT_FALSE(plain.identified[form.parameter("K")]);
  EXPECT_TRUE(plain.identified[form.parameter("alpha")]);
}

TEST(Fit, FixedParametersStayAndOthersFollow) {
  auto form = find_law("joint");
  const auto table =
      planted::runs(form, planted::kJoint, {{1, 1}, {2, 2}, {4, 4}, {8, 8}, {16, 16}}, 20, 0, 2);
  fix_parameters(form, {{"q", 1.022}});
  const auto fit = fit_law(form, table, {.starts = 60, .bootstrap = 20});
  EXPECT_EQ(fit.parameters[form.parameter("q")], 1.022);
  EXPECT_NEAR(fit.parameters[form.parameter("p")], 0.237, 1e-4);
  EXPECT_TRUE(fit.statements.empty());
  EXPECT_FALSE(fit.intervals[form.parameter("q")].has_value());
  EXPECT_EQ(error_of([&] {
              fix_parameters(form, {{"r", 1}});
            }),
            "law joint has no parameter r; it has E, A, alpha, B, beta, G, K, p, q");
  EXPECT_EQ(error_of([&] {
              fix_parameters(form, {{"G", -1}});
            }),
            "--fix G=-1: G must be 0 or more");
  auto half_fixed = find_law("chinchilla");
  fix_parameters(half_fixed, {{"A", 400}});
  EXPECT_EQ(error_of([&] { fit_law(half_fixed, table, {}); }),
            "law chinchilla: the unit of A depends on alpha; to fix A, fix alpha too");
}

TEST(Fit, OverestimatesCanWeighMore) {
  const auto form = find_law("chinchilla");
  const auto table = planted::runs(form, {1.7, 400, 0.34, 2000, 0.37}, {{1, 1}}, 100, 0.01, 3);
  const auto above = [&](double weight) {
    const auto fit = fit_law(form, table, {.starts = 20, .overestimate_weight = weight});
    int count = 0;
    for (std::size_t i = 0; i < table.rows(); ++i)
      count += fit.predicted[i] > table.numbers("loss")[i] ? 1 : 0;
    return count;
  };
  EXPECT_NEAR(above(1), 50, 8);
  EXPECT_NEAR(above(9), 10, 6);
}

TEST(Fit, TheSameForEveryNumberOfThreads) {
  const auto form = find_law("iso-depth");
  const auto table =
      planted::runs(form, {1.57, 60, 0.22, 1200, 0.37, 0.46}, planted::grid(), 4, 0.003, 3);
  const auto one = fit_law(form, table, {.starts = 12, .threads = 1, .bootstrap = 20});
  const auto three = fit_law(form, table, {.starts = 12, .threads = 3, .bootstrap = 20});
  EXPECT_EQ(one.parameters, three.parameters);
  EXPECT_EQ(one.bootstrap, three.bootstrap);
}

TEST(Fit, ProfileAndBootstrapAgreeAboutTheWidth) {
  const auto form = find_law("iso-depth");
  const auto table =
      planted::runs(form, {1.57, 60, 0.22, 1200, 0.37, 0.46}, planted::grid(), 16, 0.003, 4);
  const auto fit = fit_law(form, table, {.starts = 20, .bootstrap = 200, .profile = true});
  for (std::size_t i = 0; i < form.parameters.size(); ++i) {
    ASSERT_TRUE(fit.intervals[i] && fit.profile_intervals[i]) << form.parameters[i].name;
    const double wide = fit.intervals[i]->second - fit.intervals[i]->first;
    const double profile = fit.profile_intervals[i]->second - fit.profile_intervals[i]->first;
    EXPECT_GT(profile, wide / 2) << form.parameters[i].name;
    EXPECT_LT(profile, wide * 2) << form.parameters[i].name;
    EXPECT_LT(fit.profile_intervals[i]->first, fit.parameters[i]);
    EXPECT_GT(fit.profile_intervals[i]->second, fit.parameters[i]);
  }
}

TEST(Fit, ACellLeftOutIsPredicted) {
  const auto form = find_law("iso-depth");
  const auto table =
      planted::runs(form, {1.57, 60, 0.22, 1200, 0.37, 0.46}, planted::grid(), 4, 0, 3);
  const auto fit = fit_law(form, table, {.starts = 10});
  const auto left_out = leave_one_cell_out(fit, {"loops", "backward_loops"}, {});
  ASSERT_EQ(left_out.cells.size(), 15u);
  EXPECT_EQ(left_out.cells[1].cell, "loops 2, backward_loops 1");
  EXPECT_EQ(left_out.all.points, table.rows());
  EXPECT_LT(left_out.all.rmse_nats, 1e-5);
}

TEST(Fit, RefusesWhatCannotBeFitted) {
  const auto form = find_law("joint");
  const auto table = planted::runs(form, planted::kJoint, planted::grid(), 1, 0, 3);
  const auto first_rows = [&](std::size_t count) {
    std::vector<std::size_t> rows(count);
    for (std::size_t i = 0; i < count; ++i) rows[i] = i;
    return table.select(rows);
  };
  EXPECT_EQ(error_of([&] { fit_law(form, first_rows(1), {}); }),
            "law joint: 1 row for 9 parameters; expected at least as many rows as parameters: add "
            "runs, choose a smaller law or hold parameters with --fix");
  EXPECT_NE(error_of([&] { fit_law(form, first_rows(8), {}); }).find("8 rows for 9 parameters"),
            std::string::npos);
  const std::vector<std::size_t> same(20, 0);
  EXPECT_EQ(error_of([&] { fit_law(form, table.select(same), {}); }),
            "law joint: all 20 rows are equal; expected runs that differ");
  EXPECT_EQ(error_of([&] { fit_law(form, table, {.holdout = "loops > 100"}); }),
            "--holdout loops > 100: holds for no row");
  EXPECT_EQ(error_of([&] { fit_law(form, table, {.holdout = "loops >= 1"}); }),
            "--holdout loops >= 1: holds for all 15 rows; nothing is left to fit");
  EXPECT_EQ(error_of([&] { fit_law(form, table, {.bootstrap = 3}); }),
            "--bootstrap 3: expected 0 or at least 20 refits: an interval of 95 % takes that many");
}

TEST(Fit, AFormThatIsNowhereFiniteIsRefused) {
  const auto form = parse_form(
      "law = 'hole'\nloss = 'E + a / (n_once - n_once)'\n[parameters]\nE = { start = [0, 1] }\na = "
      "{ start = [0, 1] }",
      "hole.toml");
  const auto table = planted::runs(find_law("joint"), planted::kJoint, planted::grid(), 1, 0, 3);
  EXPECT_EQ(error_of([&] { fit_law(form, table, {.starts = 5}); }),
            "law hole: its loss is not a positive number for planted.csv:2 at any of the random "
            "starts; look for a division by zero, a root or power of a negative number, or starts "
            "that do not fit");
}

}  // namespace
}  // namespace rondo
