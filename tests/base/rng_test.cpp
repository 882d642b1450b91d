// Random streams: fixed values, independence, moments, and permutations that hit every number once.
#include "base/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace rondo {
namespace {

struct Moments {
  double mean = 0, variance = 0, skewness = 0, kurtosis = 0;
};

Moments moments(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  Moments m;
  for (const double v : values) m.mean += v / n;
  for (const double v : values) m.variance += (v - m.mean) * (v - m.mean) / n;
  for (const double v : values) {
    const double z = (v - m.mean) / std::sqrt(m.variance);
    m.skewness += z * z * z / n;
    m.kurtosis += z * z * z * z / n;
  }
  return m;
}

template <typename Draw>
std::vector<double> draws(int count, Draw&& draw) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = draw(i);
  return values;
}

TEST(RandomStream, DependsOnSeedNameIndexAndPositionOnly) {
  const RandomStream stream(42, "init", 3);
  const auto once = stream.bits(17);
  for (std::uint64_t i = 0; i < 5; ++i) static_cast<void>(stream.bits(i));
  EXPECT_EQ(stream.bits(17), once);
  EXPECT_EQ(RandomStream(42, "init", 3).bits(17), once);
  EXPECT_NE(RandomStream(43, "init", 3).bits(17), once);
  EXPECT_NE(RandomStream(42, "loops", 3).bits(17), once);
  EXPECT_NE(RandomStream(42, "init", 4).bits(17), once);
  EXPECT_NE(stream.bits(18), once);
}

// Runs are resumed on other machines and with later versions: these numbers may never change.
TEST(RandomStream, KeepsItsNumbersForEver) {
  const RandomStream stream(42, "init");
  EXPECT_EQ(stream.bits(0), 17912374422424309774ULL);
  EXPECT_EQ(stream.bits(1), 9876644918304121514ULL);
  EXPECT_EQ(RandomStream(0, "", 1ULL << 40).bits(1ULL << 40), 6597569531641545627ULL);
  EXPECT_EQ(stream.below(1000, 5), 185U);
  EXPECT_DOUBLE_EQ(stream.normal(7), -0.66583187732368887);
  const Permutation permutation(stream, 1000);
  EXPECT_EQ(permutation(0), 540U);
  EXPECT_EQ(permutation(999), 97U);
}

TEST(RandomStream, NoRepeatsAmongManyBits) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t index = 0; index < 50; ++index) {
    const RandomStream stream(1, "a", index);
    for (std::uint64_t i = 0; i < 1000; ++i) seen.insert(stream.bits(i));
  }
  EXPECT_EQ(seen.size(), 50000U);
}

TEST(RandomStream, UniformHasItsMoments) {
  const RandomStream stream(5, "uniform");
  const auto values = draws(100000, [&](auto i) { return stream.uniform(i); });
  for (const double v : values) {
    ASSERT_GT(v, 0.0);
    ASSERT_LT(v, 1.0);
  }
  const auto m = moments(values);
  EXPECT_NEAR(m.mean, 0.5, 0.005);
  EXPECT_NEAR(m.variance, 1.0 / 12, 0.001);
  EXPECT_NEAR(m.skewness, 0.0, 0.03);
  EXPECT_NEAR(m.kurtosis, 1.8, 0.03);
}

TEST(RandomStream, NormalHasItsMomentsAndNoCorrelationBetweenNeighbours) {
  const RandomStream stream(6, "normal");
  const auto values = draws(100000, [&](auto i) { return stream.normal(i); });
  const auto m = moments(values);
  EXPECT_NEAR(m.mean, 0.0, 0.015);
  EXPECT_NEAR(m.variance, 1.0, 0.02);
  EXPECT_NEAR(m.skewness, 0.0, 0.04);
  EXPECT_NEAR(m.kurtosis, 3.0, 0.1);
  // Neighbours come from one block: cosine and sine of the same angle.
  double product = 0, squares = 0;
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    product += values[i] * values[i + 1] / 1e5;
    squares += values[i] * values[i] * values[i + 1] * values[i + 1] / 1e5;
  }
  EXPECT_NEAR(product, 0.0, 0.015);
  EXPECT_NEAR(squares, 1.0, 0.05);
}

TEST(RandomStream, StreamsOfNeighbouringIndicesAreUncorrelated) {
  double product = 0;
  for (std::uint64_t i = 0; i < 20000; ++i)
    product += RandomStream(1, "x", i).normal(0) * RandomStream(1, "x", i + 1).normal(0) / 20000;
  EXPECT_NEAR(product, 0.0, 0.03);
}

TEST(RandomStream, BelowIsEven) {
  const RandomStream stream(7, "below");
  std::vector<int> counts(7, 0);
  for (std::uint64_t i = 0; i < 70000; ++i) ++counts.at(stream.below(7, i));
  for (const int count : counts) EXPECT_NEAR(count, 10000, 500);
  EXPECT_EQ(stream.below(1, 3), 0U);
}

TEST(RandomStream, PoissonHasMeanAndVariance) {
  for (const double mean : {0.3, 3.0, 30.0}) {
    const auto values = draws(20000, [&](auto i) {
      return static_cast<double>(RandomStream(8, "poisson", i).poisson(mean, 0));
    });
    EXPECT_NEAR(moments(values).mean, mean, 5 * std::sqrt(mean / 20000));
    EXPECT_NEAR(moments(values).variance, mean, 0.06 * mean + 0.02);
  }
  EXPECT_EQ(RandomStream(8, "poisson").poisson(0.0, 0), 0);
}

TEST(RandomStream, FillingEqualsDrawingOneByOne) {
  const RandomStream stream(9, "fill");
  for (const std::uint64_t first : {0U, 1U, 6U, 7U}) {
    for (const std::size_t size : {0U, 1U, 2U, 5U, 64U}) {
      std::vector<float> values(size);
      stream.fill_normal(values, first);
      for (std::size_t i = 0; i < size; ++i)
        EXPECT_EQ(values[i], static_cast<float>(stream.normal(first + i))) << first << " + " << i;
    }
  }
}

TEST(Permutation, HitsEveryNumberOnce) {
  for (const std::uint64_t size : {1U, 2U, 3U, 4U, 5U, 16U, 17U, 63U, 64U, 65U, 1000U, 4097U}) {
    const Permutation permutation(RandomStream(1, "order", size), size);
    EXPECT_EQ(permutation.size(), size);
    std::vector<bool> seen(size, false);
    for (std::uint64_t i = 0; i < size; ++i) {
      const auto image = permutation(i);
      ASSERT_LT(image, size);
      EXPECT_FALSE(seen[image]) << size << ": " << image << " twice";
      seen[image] = true;
    }
  }
}

TEST(Permutation, LargeOnesStayInside) {
  const std::uint64_t size = (1ULL << 40) + 12345;
  const Permutation permutation(RandomStream(2, "order"), size);
  std::set<std::uint64_t> images;
  for (std::uint64_t i = 0; i < 1000; ++i) images.insert(permutation(i * 1000003));
  EXPECT_EQ(images.size(), 1000U);
  EXPECT_LT(*images.rbegin(), size);
}

TEST(Permutation, MixesAndDiffersBetweenEpochs) {
  constexpr std::uint64_t kSize = 1000;
  const Permutation first(RandomStream(3, "order", 0), kSize);
  const Permutation second(RandomStream(3, "order", 1), kSize);
  int equal = 0, ascending = 0;
  for (std::uint64_t i = 0; i + 1 < kSize; ++i) {
    equal += first(i) == second(i) ? 1 : 0;
    ascending += first(i) < first(i + 1) ? 1 : 0;
  }
  EXPECT_LT(equal, 10);
  EXPECT_NEAR(ascending, 500, 60);
}

// Element 0 goes to every place about equally often.
TEST(Permutation, PlacesAreEven) {
  std::vector<int> counts(10, 0);
  for (std::uint64_t epoch = 0; epoch < 20000; ++epoch)
    ++counts.at(Permutation(RandomStream(4, "order", epoch), 10)(0));
  for (const int count : counts) EXPECT_NEAR(count, 2000, 250);
}

}  // namespace
}  // namespace rondo
