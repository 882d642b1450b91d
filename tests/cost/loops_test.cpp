// The laws of the loop count: sums, means, caps, and agreement with draws.
#include "cost/loops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/rng.h"

namespace rondo {
namespace {

double sum(const std::vector<double>& law) { return std::accumulate(law.begin(), law.end(), 0.0); }

TEST(Loops, BackwardIsCutToForwardAndZeroMeansAll) {
  EXPECT_EQ(backward_loops(4, 2), 2);
  EXPECT_EQ(backward_loops(4, 4), 4);
  EXPECT_EQ(backward_loops(4, 9), 4);
  EXPECT_EQ(backward_loops(4, 0), 4);
}

TEST(Loops, FixedIsCertain) {
  const LoopsConfig loops{.forward = 3, .backward = 2, .max = 12};
  EXPECT_EQ(loop_law(loops)[2], 1.0);
  EXPECT_EQ(sum(loop_law(loops)), 1.0);
  EXPECT_EQ(expected_loops(loops).forward, 3.0);
  EXPECT_EQ(expected_loops(loops).backward, 2.0);
  EXPECT_EQ(largest_loops(loops).forward, 3.0);
}

TEST(Loops, UniformHasTheMeanForward) {
  const LoopsConfig loops{.forward = 4, .backward = 3, .sampler = Sampler::kUniform, .max = 16};
  const auto law = loop_law(loops);
  for (std::size_t t = 1; t <= 16; ++t) EXPECT_NEAR(law[t - 1], t <= 7 ? 1.0 / 7 : 0.0, 1e-12);
  EXPECT_NEAR(expected_loops(loops).forward, 4.0, 1e-12);
  EXPECT_NEAR(expected_loops(loops).backward, (1 + 2 + 5 * 3) / 7.0, 1e-12);
  EXPECT_EQ(largest_loops(loops).forward, 7.0);
  EXPECT_EQ(largest_loops(loops).backward, 3.0);
}

TEST(Loops, TheCapGathersLargerDraws) {
  const LoopsConfig loops{.forward = 4, .backward = 0, .sampler = Sampler::kUniform, .max = 5};
  const auto law = loop_law(loops);
  ASSERT_EQ(law.size(), 5U);
  EXPECT_NEAR(law[4], 3.0 / 7, 1e-12);
  EXPECT_NEAR(expected_loops(loops).forward, (1 + 2 + 3 + 4 + 3 * 5) / 7.0, 1e-12);
  EXPECT_EQ(largest_loops(loops).backward, 5.0);
}

TEST(Loops, PoissonLognormalHasTheMeanForwardWhenNothingIsCapped) {
  for (const std::int64_t forward : {1, 2, 4, 8, 32, 300}) {
    LoopsConfig loops{.forward = forward, .backward = 0, .sampler = Sampler::kPoissonLognormal};
    loops.max = 40 * forward + 40;
    EXPECT_NEAR(sum(loop_law(loops)), 1.0, 1e-9) << forward;
    const double mean = expected_loops(loops).forward;
    EXPECT_NEAR(mean, static_cast<double>(forward), 1e-6 * static_cast<double>(forward));
  }
}

TEST(Loops, PoissonLognormalAgreesWithDraws) {
  const LoopsConfig loops{
      .forward = 8, .backward = 4, .sampler = Sampler::kPoissonLognormal, .max = 20};
  const auto law = loop_law(loops);
  const auto [mu, sigma] = poisson_lognormal_rate(8);
  constexpr int kDraws = 40000;
  std::vector<double> seen(law.size(), 0.0);
  for (int i = 0; i < kDraws; ++i) {
    const RandomStream stream(7, "loops", static_cast<std::uint64_t>(i));
    const double rate = std::exp(mu + sigma * stream.normal(0));
    const auto drawn = std::min<std::int64_t>(20, 1 + stream.poisson(rate, 8));
    seen[static_cast<std::size_t>(drawn - 1)] += 1.0 / kDraws;
  }
  for (std::size_t i = 0; i < law.size(); ++i)
    EXPECT_NEAR(seen[i], law[i], 5 * std::sqrt(law[i] / kDraws) + 1e-4) << i + 1 << " loops";
}

TEST(Loops, ManyLoopsKeepTheLawWhole) {
  const LoopsConfig loops{
      .forward = 20000, .backward = 4, .sampler = Sampler::kPoissonLognormal, .max = 200000};
  EXPECT_NEAR(expected_loops(loops).forward, 20000, 40);
  EXPECT_NEAR(expected_loops(loops).backward, 4, 1e-6);
}

}  // namespace
}  // namespace rondo
