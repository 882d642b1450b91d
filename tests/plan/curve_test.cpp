// Minima and crossings of curves.
#include "plan/curve.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rondo {
namespace {

TEST(Curve, FindsAnInnerMinimum) {
  const auto found =
      lowest_point([](double x) { return 2 + std::cosh(x - 1.2345); }, {-10, 30}, 17);
  EXPECT_NEAR(found.x, 1.2345, 1e-6);
  EXPECT_NEAR(found.y, 3, 1e-12);
}

TEST(Curve, FindsTheLowerOfTwoValleys) {
  const auto curve = [](double x) { return std::pow(x * x - 4, 2) + 0.1 * x; };
  const auto found = lowest_point(curve, {-6, 5}, 33);
  EXPECT_NEAR(found.x, -2.003, 0.01);
  EXPECT_LT(found.y, -0.2);
}

TEST(Curve, EndsAreExact) {
  EXPECT_EQ(lowest_point([](double x) { return x; }, {0.25, 7}, 9).x, 0.25);
  EXPECT_EQ(lowest_point([](double x) { return -x; }, {0.25, 7}, 9).x, 7);
  EXPECT_EQ(lowest_point([](double x) { return x * x; }, {3, 3}, 9).x, 3);
}

TEST(Curve, ACornerIsFound) {
  const auto found = lowest_point([](double x) { return std::abs(x - 0.7); }, {-3, 4}, 9);
  EXPECT_NEAR(found.x, 0.7, 1e-6);
}

TEST(Curve, WhatIsNotANumberIsPassedOver) {
  const auto curve = [](double x) { return x < 1 ? std::nan("") : (x - 2) * (x - 2); };
  EXPECT_NEAR(lowest_point(curve, {-5, 5}, 17).x, 2, 1e-6);
  EXPECT_TRUE(std::isinf(lowest_point([](double) { return std::nan(""); }, {0, 1}, 5).y));
}

TEST(Curve, Crossings) {
  const auto curve = [](double x) { return x * x - 2; };
  EXPECT_NEAR(crossing(curve, 0, 5), std::sqrt(2), 1e-11);
  EXPECT_NEAR(first_crossing(curve, 0, -9, 0.3).value(), -std::sqrt(2), 1e-11);
  EXPECT_FALSE(first_crossing(curve, 0, 1, 0.3).has_value());
}

}  // namespace
}  // namespace rondo
