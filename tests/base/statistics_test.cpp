// Mean, spread and median, and what they say about too few values.
#include "base/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace rondo {
namespace {

TEST(Statistics, KnownValues) {
  const std::vector<double> values = {2, 4, 4, 4, 5, 5, 7, 9};
  EXPECT_DOUBLE_EQ(mean(values), 5.0);
  EXPECT_DOUBLE_EQ(sample_sd(values), std::sqrt(32.0 / 7));
  EXPECT_DOUBLE_EQ(median(values), 4.5);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{9, 1, 5}), 5.0);
}

TEST(Statistics, TooFewValuesAreUnknownAndNotZero) {
  EXPECT_TRUE(std::isnan(mean({})));
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_TRUE(std::isnan(sample_sd({})));
  EXPECT_TRUE(std::isnan(sample_sd(std::vector<double>{3})));
  EXPECT_DOUBLE_EQ(sample_sd(std::vector<double>{3, 3}), 0.0);
}

TEST(Statistics, SpreadOfLargeNumbersKeepsItsDigits) {
  EXPECT_DOUBLE_EQ(sample_sd(std::vector<double>{1e9 + 1, 1e9 + 2, 1e9 + 3}), 1.0);
}

TEST(Statistics, MedianLeavesItsInputAlone) {
  const std::vector<double> values = {3, 1, 2};
  static_cast<void>(median(values));
  EXPECT_EQ(values, (std::vector<double>{3, 1, 2}));
}

}  // namespace
}  // namespace rondo
