// Formulas: values, gradients against differences, and every way to write one wrong.
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/rng.h"
#include "law/expression.h"
#include "tests/record/fake_runs.h"

namespace rondo {
namespace {

double value(const std::string& formula) { return evaluate_formula(formula, {}, {}, "test"); }

using test::error_of;

TEST(Formula, FollowsTheRulesOfArithmetic) {
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("2 - 3 - 4"), -5);
  EXPECT_EQ(value("8 / 4 / 2"), 1);
  EXPECT_EQ(value("-2^2"), -4);
  EXPECT_DOUBLE_EQ(value("2^-1"), 0.5);
  EXPECT_DOUBLE_EQ(value("2^3^2"), 512);
  EXPECT_EQ(value("1e3 + .5"), 1000.5);
  EXPECT_DOUBLE_EQ(value("exp(log(3)) + sqrt(16) + min(1, 2) + max(1, 2)"), 10);
  EXPECT_EQ(value("--1"), 1);
}

TEST(Formula, SaysWhatIsWrongAndWhere) {
  const auto wrong = [](const std::string& formula) { return error_of([&] { value(formula); }); };
  EXPECT_EQ(wrong("1 +"), "test: '1 +': expected a number, a name or '(' at character 4");
  EXPECT_EQ(wrong("(1"), "test: '(1': expected ')' at character 3");
  EXPECT_EQ(wrong("1 2"), "test: '1 2': expected an operator or the end at character 3, found '2'");
  EXPECT_EQ(wrong("2 ** 3"),
            "test: '2 ** 3': expected one operand (powers are written ^) at character 4, found '* "
            "3'");
  EXPECT_EQ(wrong("1 / 0"), "test: '1 / 0': divides by zero");
  EXPECT_EQ(wrong("sin(1)"),
            "test: 'sin(1)': there is no function sin; there are exp, log, sqrt, min and max");
  EXPECT_EQ(wrong("x"), "test: there is no x");
  EXPECT_EQ(wrong("1e999"),
            "test: '1e999': expected a finite number at character 1, found '1e999'");
  EXPECT_NE(wrong(std::string(5000, '(')).find("nested too deeply"), std::string::npos);
  EXPECT_NE(wrong(std::string(5000, '-')).find("expected a number"), std::string::npos);
}

TEST(Formula, RandomTextNeverCrashes) {
  const RandomStream random(1, "formula");
  const std::string letters = "0123456789.eE+-*/^(),xyz explogsqrtminmax\"\n";
  for (std::uint64_t i = 0; i < 20000; ++i) {
    std::string text;
    const auto length = random.below(24, i * 32);
    for (std::uint64_t k = 1; k <= length; ++k)
      text += letters[random.below(letters.size(), i * 32 + k)];
    try {
      names_in(text, "fuzz");
    } catch (const Error&) {
    }
  }
}

// A form with every operation, on three rows.
BoundForm everything() {
  LawForm form;
  form.name = "everything";
  form.loss =
      "a * exp(-b * tokens) + log(n_once + c) - sqrt(a + tokens) / (b + n_once ^ c) + "
      "min(a * tokens, b) * max(c, n_once * b) + -(a / c) + (a * b + sqrt(a) - b / a + min(a, b) "
      "- max(b, c) + exp(-c) + log(a)) ^ 2 + (n_once * a) ^ b";
  form.parameters = {
      {"a", 0, 1, false, "", {}}, {"b", 0, 1, false, "", {}}, {"c", 0, 1, false, "", {}}};
  return {form, {{0.3, 1.7, 2.0}, {1.5, 0.2, 3.0}}};
}

TEST(BoundForm, GradientEqualsDifferences) {
  auto bound = everything();
  const std::vector<double> at = {0.7, 1.3, 0.9}, weights = {1, -2, 0.5};
  bound.predict(at);
  std::vector<double> gradient(3, 0);
  bound.pull_back(weights, gradient);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto sum_at = [&](double step) {
      auto moved = at;
      moved[i] += step;
      const auto values = bound.predict(moved);
      double sum = 0;
      for (std::size_t row = 0; row < 3; ++row) sum += weights[row] * values[row];
      return sum;
    };
    const double difference = (sum_at(1e-6) - sum_at(-1e-6)) / 2e-6;
    EXPECT_NEAR(gradient[i], difference, 1e-7 * std::max(1.0, std::abs(difference))) << i;
  }
}

TEST(BoundForm, CopiesAreIndependent) {
  auto first = everything();
  auto second = first;
  const auto a = first.predict(std::vector<double>{0.7, 1.3, 0.9});
  const double before = a[0];
  second.predict(std::vector<double>{0.1, 0.2, 0.3});
  EXPECT_EQ(a[0], before);
}

}  // namespace
}  // namespace rondo
