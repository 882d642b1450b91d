// Choices from logits: frequencies against the distribution, the limits by hand, ties, bad values.
#include "eval/sample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "base/error.h"

namespace rondo {
namespace {

const std::vector<float> kRow = {1.0F, 3.0F, -2.0F, 3.0F, 0.5F};

std::vector<double> softmax(const std::vector<float>& logits, double temperature) {
  double sum = 0;
  std::vector<double> shares;
  for (const float z : logits) shares.push_back(std::exp(z / temperature));
  for (const double share : shares) sum += share;
  for (double& share : shares) share /= sum;
  return shares;
}

std::vector<double> frequencies(const Sampling& sampling, int draws = 40000) {
  std::vector<double> counts(kRow.size());
  for (int i = 0; i < draws; ++i)
    counts[static_cast<std::size_t>(
        choose_token(kRow, 5, sampling, static_cast<std::uint64_t>(i)).id)] += 1.0 / draws;
  return counts;
}

std::set<std::int32_t> seen(const Sampling& sampling) {
  std::set<std::int32_t> ids;
  for (std::uint64_t i = 0; i < 4000; ++i) ids.insert(choose_token(kRow, 5, sampling, i).id);
  return ids;
}

TEST(Sample, DrawsFollowTheDistribution) {
  for (const double temperature : {0.6, 1.0, 4.0}) {
    const auto expected = softmax(kRow, temperature);
    const auto found = frequencies({.temperature = temperature, .seed = 11});
    for (std::size_t i = 0; i < expected.size(); ++i)
      // Four standard deviations of a frequency.
      EXPECT_NEAR(found[i], expected[i],
                  4 * std::sqrt(expected[i] * (1 - expected[i]) / 40000) + 1e-6)
          << temperature << " " << i;
  }
}

TEST(Sample, ZeroTemperatureTakesTheBestAndOfEqualsTheFirst) {
  for (std::uint64_t i = 0; i < 20; ++i)
    EXPECT_EQ(choose_token(kRow, 5, {.temperature = 0, .seed = i}, i).id, 1);
}

TEST(Sample, LimitsKeepTheMostProbable) {
  EXPECT_EQ(seen({.top_k = 1}), (std::set<std::int32_t>{1}));
  EXPECT_EQ(seen({.top_k = 3}), (std::set<std::int32_t>{0, 1, 3}));
  EXPECT_EQ(seen({.top_k = 100}).size(), 5U);
  // Probabilities: 3: 0.451 twice, 1: 0.0611, 0.5: 0.037, −2: 0.003.
  EXPECT_EQ(seen({.top_p = 0.4}), (std::set<std::int32_t>{1}));
  EXPECT_EQ(seen({.top_p = 0.46}), (std::set<std::int32_t>{1, 3}));
  EXPECT_EQ(seen({.top_p = 0.91}), (std::set<std::int32_t>{0, 1, 3}));
  EXPECT_EQ(seen({.top_p = 1e-9}), (std::set<std::int32_t>{1}));
  // The share is of what top-k leaves: 0.5 of two equals is the first.
  EXPECT_EQ(seen({.top_k = 2, .top_p = 0.49}), (std::set<std::int32_t>{1}));
  // After the temperature: flat, so that more tokens are needed.
  EXPECT_EQ(seen({.temperature = 100, .top_p = 0.5}).size(), 3U);
}

TEST(Sample, LimitedDrawsKeepTheirProportions) {
  const auto found = frequencies({.top_k = 3, .seed = 2});
  const double all = 2 * std::exp(3.0) + std::exp(1.0);
  EXPECT_NEAR(found[0], std::exp(1.0) / all, 0.005);
  EXPECT_NEAR(found[1], std::exp(3.0) / all, 0.01);
}

TEST(Sample, LogProbabilityIsThatOfTheModelItself) {
  const auto shares = softmax(kRow, 1.0);
  const auto chosen = choose_token(kRow, 5, {.temperature = 0.01, .top_k = 2}, 0);
  EXPECT_NEAR(chosen.log_probability, std::log(shares[static_cast<std::size_t>(chosen.id)]), 1e-12);
}

TEST(Sample, ChoicesDependOnSeedAndNumberOnly) {
  const Sampling sampling{.temperature = 5, .seed = 9};
  std::vector<std::int32_t> forward, backward;
  for (int i = 0; i < 50; ++i)
    forward.push_back(choose_token(kRow, 5, sampling, static_cast<std::uint64_t>(i)).id);
  for (int i = 49; i >= 0; --i)
    backward.insert(backward.begin(),
                    choose_token(kRow, 5, sampling, static_cast<std::uint64_t>(i)).id);
  EXPECT_EQ(forward, backward);
}

TEST(Sample, OnlyTheFirstIdsMayBeChosen) {
  EXPECT_EQ(choose_token(kRow, 1, {.temperature = 0}, 0).id, 0);
  for (std::uint64_t i = 0; i < 200; ++i)
    EXPECT_LT(choose_token(kRow, 3, {.temperature = 9}, i).id, 3);
}

TEST(Sample, ExtremeTemperaturesAreSafe) {
  EXPECT_EQ(choose_token(kRow, 3, {.temperature = 1e-300}, 4).id, 1);
  EXPECT_NO_THROW(choose_token(kRow, 5, {.temperature = 1e300}, 4));
}

TEST(Sample, RefusesWhatIsNoDistribution) {
  EXPECT_THROW(check({.temperature = -0.1}), Error);
  EXPECT_THROW(check({.temperature = NAN}), Error);
  EXPECT_THROW(check({.temperature = INFINITY}), Error);
  EXPECT_THROW(check({.top_k = -1}), Error);
  EXPECT_THROW(check({.top_p = 0}), Error);
  EXPECT_THROW(check({.top_p = 1.01}), Error);
  EXPECT_THROW(check({.top_p = NAN}), Error);
  EXPECT_NO_THROW(check(Sampling{}));
  EXPECT_THROW(choose_token(std::vector{1.0F, NAN}, 2, {}, 0), Error);
  EXPECT_THROW(choose_token(std::vector{1.0F, INFINITY}, 2, {.temperature = 0}, 0), Error);
}

}  // namespace
}  // namespace rondo
