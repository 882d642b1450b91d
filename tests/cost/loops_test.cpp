// The laws of the loop count: sums, means, caps, and agreement with draws.
#include "cost/loops.h"

#include <fmt/format.h>
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
  EXPECT_EQ(loop_law(loops, 1)[2], 1.0);
  EXPECT_EQ(sum(loop_law(loops, 1)), 1.0);
  EXPECT_EQ(expected_loops(loops, 1).forward, 3.0);
  EXPECT_EQ(expected_loops(loops, 1).backward, 2.0);
  EXPECT_EQ(largest_loops(loops).forward, 3.0);
}

TEST(Loops, UniformHasTheMeanForward) {
  const LoopsConfig loops{.forward = 4, .backward = 3, .sampler = Sampler::kUniform, .max = 16};
  const auto law = loop_law(loops, 1);
  for (std::size_t t = 1; t <= 16; ++t) EXPECT_NEAR(law[t - 1], t <= 7 ? 1.0 / 7 : 0.0, 1e-12);
  EXPECT_NEAR(expected_loops(loops, 1).forward, 4.0, 1e-12);
  EXPECT_NEAR(expected_loops(loops, 1).backward, (1 + 2 + 5 * 3) / 7.0, 1e-12);
  EXPECT_EQ(largest_loops(loops).forward, 7.0);
  EXPECT_EQ(largest_loops(loops).backward, 3.0);
}

TEST(Loops, TheCapGathersLargerDraws) {
  const LoopsConfig loops{.forward = 4, .backward = 0, .sampler = Sampler::kUniform, .max = 5};
  const auto law = loop_law(loops, 1);
  ASSERT_EQ(law.size(), 5U);
  EXPECT_NEAR(law[4], 3.0 / 7, 1e-12);
  EXPECT_NEAR(expected_loops(loops, 1).forward, (1 + 2 + 3 + 4 + 3 * 5) / 7.0, 1e-12);
  EXPECT_EQ(largest_loops(loops).backward, 5.0);
}

TEST(Loops, PoissonLognormalHasTheMeanForwardWhenNothingIsCapped) {
  for (const std::int64_t forward : {1, 2, 4, 8, 32, 300}) {
    LoopsConfig loops{.forward = forward, .backward = 0, .sampler = Sampler::kPoissonLognormal};
    loops.max = 40 * forward + 40;
    EXPECT_NEAR(sum(loop_law(loops, 1)), 1.0, 1e-9) << forward;
    const double mean = expected_loops(loops, 1).forward;
    EXPECT_NEAR(mean, static_cast<double>(forward), 1e-6 * static_cast<double>(forward));
  }
}

TEST(Loops, PoissonLognormalAgreesWithDraws) {
  const LoopsConfig loops{
      .forward = 8, .backward = 4, .sampler = Sampler::kPoissonLognormal, .max = 20};
  const auto law = loop_law(loops, 1);
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
  EXPECT_NEAR(expected_loops(loops, 1).forward, 20000, 40);
  EXPECT_NEAR(expected_loops(loops, 1).backward, 4, 1e-6);
}

TEST(Loops, AScheduleRisesLinearly) {
  const LoopsConfig loops{
      .forward = 5, .backward = 2, .sampler = Sampler::kSchedule, .start = 1, .schedule_steps = 8};
  std::string course;
  for (std::int64_t step = 1; step <= 11; ++step)
    course += fmt::format("{} ", scheduled_loops(loops, step));
  // 1 + (step - 1) / 2, halves up.
  EXPECT_EQ(course, "1 2 2 3 3 4 4 5 5 5 5 ");
  EXPECT_EQ(smallest_loops(loops), 1);
  EXPECT_EQ(largest_loops(loops).forward, 5.0);
  // Of 10 steps: one of 1, two of 2, 3 and 4 each, three of 5.
  EXPECT_EQ(loop_law(loops, 10), (std::vector<double>{0.1, 0.2, 0.2, 0.2, 0.3}));
  EXPECT_DOUBLE_EQ(expected_loops(loops, 10).forward, 0.1 + 0.4 + 0.6 + 0.8 + 1.5);
  EXPECT_DOUBLE_EQ(expected_loops(loops, 10).backward, 0.1 + 2 * 0.9);
  EXPECT_DOUBLE_EQ(expected_loops(loops, 1).forward, 1.0);
}

TEST(Loops, TheMeanOfAScheduleIsThatOfItsSteps) {
  for (const std::int64_t start : {1, 3, 7})
    for (const std::int64_t over : {1, 5, 100, 1000})
      for (const std::int64_t steps : {1, 6, 250}) {
        const LoopsConfig loops{.forward = 7,
                                .backward = 3,
                                .sampler = Sampler::kSchedule,
                                .start = start,
                                .schedule_steps = over};
        double forward = 0, backward = 0;
        for (std::int64_t step = 1; step <= steps; ++step) {
          const auto t = scheduled_loops(loops, step);
          forward += static_cast<double>(t);
          backward += static_cast<double>(std::min<std::int64_t>(t, 3));
          ASSERT_GE(t, start);
          ASSERT_LE(t, 7);
        }
        const auto mean = expected_loops(loops, steps);
        EXPECT_NEAR(mean.forward, forward / static_cast<double>(steps), 1e-12);
        EXPECT_NEAR(mean.backward, backward / static_cast<double>(steps), 1e-12);
      }
}

}  // namespace
}  // namespace rondo
