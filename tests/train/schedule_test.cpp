// Learning rates against their closed forms, and the draws of the loop samplers against their laws.
#include "train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>

#include "base/error.h"
#include "config/recipe.h"
#include "cost/loops.h"
#include "train/precision.h"
#include "train/recurrence_sampler.h"
#include "train/settle.h"

namespace rondo {
namespace {

TrainConfig schedule(ScheduleKind kind) {
  TrainConfig train;
  train.steps = 100;
  train.warmup_steps = 10;
  train.learning_rate = 1.0;
  train.min_learning_rate = 0.1;
  train.decay_steps = 20;
  train.schedule = kind;
  return train;
}

TEST(Schedule, WarmsUpLinearlyToThePeak) {
  for (const auto kind : {ScheduleKind::kCosine, ScheduleKind::kLinear, ScheduleKind::kWsd,
                          ScheduleKind::kConstant}) {
    const auto train = schedule(kind);
    EXPECT_DOUBLE_EQ(learning_rate_at(train, 1), 0.1);
    EXPECT_DOUBLE_EQ(learning_rate_at(train, 5), 0.5);
    EXPECT_DOUBLE_EQ(learning_rate_at(train, 10), 1.0);
  }
}

TEST(Schedule, ComesDownAsItsNameSays) {
  EXPECT_NEAR(learning_rate_at(schedule(ScheduleKind::kCosine), 55), 0.55, 1e-12);
  EXPECT_NEAR(learning_rate_at(schedule(ScheduleKind::kCosine), 40),
              0.1 + 0.9 * 0.5 * (1.0 + std::cos(std::numbers::pi / 3.0)), 1e-12);
  EXPECT_NEAR(learning_rate_at(schedule(ScheduleKind::kLinear), 55), 0.55, 1e-12);
  EXPECT_NEAR(learning_rate_at(schedule(ScheduleKind::kWsd), 80), 1.0, 1e-12);
  EXPECT_NEAR(learning_rate_at(schedule(ScheduleKind::kWsd), 90), 0.55, 1e-12);
  EXPECT_NEAR(learning_rate_at(schedule(ScheduleKind::kConstant), 100), 1.0, 1e-12);
  for (const auto kind : {ScheduleKind::kCosine, ScheduleKind::kLinear, ScheduleKind::kWsd})
    EXPECT_NEAR(learning_rate_at(schedule(kind), 100), 0.1, 1e-12);
}

TEST(Schedule, WsdOfFiveEightyFiveTen) {
  for (const char* name : {"llama-1b", "qwen-0.6b"}) {
    const auto train = read_recipe(fmt::format("recipes/{}.toml", name)).train;
    const auto steps = static_cast<double>(train.steps);
    for (std::int64_t step = 1; step <= train.steps; ++step) {
      const auto k = static_cast<double>(step);
      const auto up = static_cast<double>(train.warmup_steps),
                 down = static_cast<double>(train.decay_steps);
      const double expected = k <= up             ? k / up
                              : k <= steps - down ? 1.0
                                                  : 1.0 - 0.9 * (k - (steps - down)) / down;
      ASSERT_NEAR(learning_rate_at(train, step) / train.learning_rate, expected, 1e-12) << step;
    }
    EXPECT_NEAR(static_cast<double>(train.warmup_steps) / steps, 0.05, 1e-4);
    EXPECT_NEAR(static_cast<double>(train.decay_steps) / steps, 0.10, 1e-4);
  }
}

TEST(Schedule, MeetsOddLengths) {
  auto train = schedule(ScheduleKind::kCosine);
  train.warmup_steps = 0;
  EXPECT_LT(learning_rate_at(train, 1), 1.0);
  train.warmup_steps = 200;  // longer than the run
  EXPECT_DOUBLE_EQ(learning_rate_at(train, 100), 0.5);
  train = schedule(ScheduleKind::kWsd);
  train.decay_steps = 0;
  EXPECT_DOUBLE_EQ(learning_rate_at(train, 100), 1.0);
  train = schedule(ScheduleKind::kCosine);
  train.steps = train.warmup_steps = 1;
  EXPECT_DOUBLE_EQ(learning_rate_at(train, 1), 1.0);
}

LoopsConfig sampled(Sampler sampler, std::int64_t forward, std::int64_t backward,
                    std::int64_t max) {
  LoopsConfig loops;
  loops.sampler = sampler;
  loops.forward = forward;
  loops.backward = backward;
  loops.max = max;
  return loops;
}

TEST(Sampler, DrawsFollowTheirLaw) {
  for (const auto sampler : {Sampler::kUniform, Sampler::kPoissonLognormal}) {
    for (const std::int64_t forward : {1, 4, 12}) {
      const auto loops = sampled(sampler, forward, 2, 4 * forward);
      const auto law = loop_law(loops, 1);
      constexpr int kDraws = 20000;
      std::map<std::int64_t, int> seen;
      double sum = 0;
      for (std::int64_t step = 1; step <= kDraws; ++step) {
        const auto draw = draw_loops(loops, 7, step);
        ASSERT_GE(draw.forward, 1);
        ASSERT_LE(draw.forward, loops.max);
        ASSERT_EQ(draw.backward, std::min<std::int64_t>(2, draw.forward));
        ++seen[draw.forward];
        sum += static_cast<double>(draw.forward);
      }
      const double spread = static_cast<double>(forward) / std::sqrt(double{kDraws});
      EXPECT_NEAR(sum / kDraws, expected_loops(loops, 1).forward, 4.0 * spread);
      for (std::size_t i = 0; i < law.size(); ++i) {
        const double share = seen[static_cast<std::int64_t>(i) + 1] / double{kDraws};
        EXPECT_NEAR(share, law[i], 4.5 * std::sqrt(law[i] / kDraws) + 1e-4) << i + 1;
      }
    }
  }
}

TEST(Sampler, MeanIsForward) {
  // With a cap far away nothing is lost at the top.
  for (const std::int64_t forward : {2, 4, 32}) {
    const auto loops = sampled(Sampler::kPoissonLognormal, forward, 0, 1000 * forward);
    EXPECT_NEAR(expected_loops(loops, 1).forward / static_cast<double>(forward), 1.0, 1e-4);
    EXPECT_NEAR(expected_loops(sampled(Sampler::kUniform, forward, 0, 4 * forward), 1).forward,
                static_cast<double>(forward), 1e-9);
  }
}

TEST(Sampler, IsKeyedByStepAndSeed) {
  const auto loops = sampled(Sampler::kPoissonLognormal, 8, 0, 32);
  bool seed_matters = false;
  for (std::int64_t step = 1; step < 50; ++step) {
    EXPECT_EQ(draw_loops(loops, 1, step).forward, draw_loops(loops, 1, step).forward);
    seed_matters =
        seed_matters || draw_loops(loops, 1, step).forward != draw_loops(loops, 2, step).forward;
  }
  EXPECT_TRUE(seed_matters);
}

TEST(Sampler, AScheduleIsTheSameForEverySeed) {
  auto loops = sampled(Sampler::kSchedule, 4, 2, 0);
  loops.start = 2;
  loops.schedule_steps = 4;
  std::string course;
  for (std::int64_t step = 1; step <= 6; ++step) {
    EXPECT_EQ(draw_loops(loops, 1, step).forward, draw_loops(loops, 2, step).forward);
    course += fmt::format("{}/{} ", draw_loops(loops, 1, step).forward,
                          draw_loops(loops, 1, step).backward);
  }
  EXPECT_EQ(course, "2/2 3/2 3/2 4/2 4/2 4/2 ");
}

TEST(Sampler, FixedIgnoresTheCapAndBackwardZeroMeansAll) {
  EXPECT_EQ(draw_loops(sampled(Sampler::kFixed, 4, 0, 4), 1, 1).backward, 4);
  EXPECT_EQ(draw_loops(sampled(Sampler::kFixed, 4, 9, 4), 1, 1).backward, 4);
  EXPECT_EQ(draw_loops(sampled(Sampler::kFixed, 4, 3, 4), 1, 1).backward, 3);
}

TEST(Feedback, FollowsItsScheduleInEqualParts) {
  auto config = parse_recipe("", "recipe", {"model.kind=rlt", "train.steps=10"});
  EXPECT_EQ(feedback_interval_at(config, 7), 1);
  config.train.feedback_schedule = {8, 4, 1};
  std::string course;
  for (std::int64_t step = 1; step <= 10; ++step)
    course += fmt::format("{} ", feedback_interval_at(config, step));
  EXPECT_EQ(course, "8 8 8 8 4 4 4 1 1 1 ");
}

TEST(Settle, RefusesWhatTheMachineOrVersionCannotDo) {
  EXPECT_EQ(settle_precision(Precision::kAuto, {}), Precision::kFp32);
  EXPECT_EQ(settle_precision(Precision::kAuto, {.avx512_bf16 = true}), Precision::kFp32);
  EXPECT_EQ(settle_precision(Precision::kAuto, {.amx_bf16 = true}), Precision::kBf16);
  EXPECT_EQ(settle_precision(Precision::kFp32, {.amx_bf16 = true}), Precision::kFp32);
  EXPECT_EQ(settle_precision(Precision::kBf16, {.avx512_bf16 = true}), Precision::kBf16);
  try {
    settle_precision(Precision::kBf16, {.avx512 = true});
    FAIL() << "bf16 without units for it";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "train.precision = \"bf16\": this machine has no bf16 units (AMX or AVX-512 BF16); "
        "use \"fp32\" or \"auto\"");
  }
  EXPECT_THROW(check_device(DeviceKind::kCuda), Error);
}

}  // namespace
}  // namespace rondo
