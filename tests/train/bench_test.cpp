// The benchmarks' parts that can be checked without a clock, and the profile of steps.
#include "train/bench.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cost/flops.h"
#include "cost/parameters.h"
#include "train/bench_cases.h"
#include "train/bench_memory.h"
#include "train/step_profile.h"

namespace rondo {
namespace {

TEST(BenchCases, AreTheShapesThatTheyName) {
  const auto a = find_bench_case(Benchmark::kLm, "a82", {}).config;
  EXPECT_EQ(a.model.d_model, 256);
  EXPECT_EQ(a.loops.forward, 8);
  EXPECT_EQ(a.loops.backward, 2);
  EXPECT_EQ(a.train.batch, 16);
  const auto c = find_bench_case(Benchmark::kLm, "c44", {}).config;
  EXPECT_EQ(c.model.prelude_layers, 0);
  EXPECT_EQ(c.model.vocab, 256);
  EXPECT_EQ(find_bench_case(Benchmark::kLm, "sampled", {}).config.loops.sampler, Sampler::kUniform);
  // (8, 2) and (4, 4) count the same work.
  EXPECT_EQ(flops_per_token(a).train,
            flops_per_token(find_bench_case(Benchmark::kLm, "a44", {}).config).train);
}

TEST(BenchCases, RecurrentOnesHaveTheSizesOfThePaper) {
  const auto one = find_bench_case(Benchmark::kRlt, "RLT-1", {}).config;
  EXPECT_EQ(count_parameters(one.model, 277).total, 28726912);
  EXPECT_EQ(find_bench_case(Benchmark::kRlt, "chunk 8", {}).config.model.feedback_interval, 8);
  const auto none = find_bench_case(Benchmark::kRlt, "RLT-0", {}).config;
  EXPECT_EQ(count_parameters(none.model, 277).total, 27938944);
  const auto plain = find_bench_case(Benchmark::kRlt, "transformer", {}).config;
  EXPECT_EQ(count_parameters(plain.model, 277).total, 25314304);
  EXPECT_EQ(one.train.batch * one.data.sequence_length, 512 * 24);
}

TEST(BenchCases, ChangesOfACaseWinOverThoseOfAll) {
  const auto one =
      find_bench_case(Benchmark::kLm, "a44:model.d_ff=64:engine.fused=false", {"model.d_ff=32"});
  EXPECT_EQ(one.config.model.d_ff, 64);
  EXPECT_FALSE(one.config.engine.fused);
  EXPECT_EQ(one.name, "a44:model.d_ff=64:engine.fused=false");
  EXPECT_THROW(find_bench_case(Benchmark::kLm, "a45", {}), Error);
  EXPECT_THROW(find_bench_case(Benchmark::kLm, "a44:model.width=1", {}), Error);
}

TEST(BenchPeer, ReadsResultsAmongOtherLines) {
  const auto times = read_peer(
      "warming up\n"
      R"({"peer": "p", "case": "train_step_a44", "metric": "step_s", "value": 1.5, "unit": "s"})"
      "\n"
      R"({"case": "train_step_a44", "metric": "step_s_min", "value": 1.0})"
      "\n"
      R"({"case": "b44", "metric": "step_time_s", "value": 4})"
      "\n[1, 2]\n");
  EXPECT_EQ(times, (PeerTimes{{"a44", 1.5}, {"b44", 4.0}}));
  EXPECT_THROW(run_peer("echo nothing"), Error);
  EXPECT_THROW(run_peer("exit 3"), Error);
}

TEST(BenchMemory, IsThatOfTheWorkAlone) {
  // No tensors: their threads do not survive the copy of the process.
  const auto small = peak_in_child([] {});
  const auto large = peak_in_child([] { std::vector<char>(std::size_t{256} << 20, 1); });
  ASSERT_TRUE(small && large);
  EXPECT_GT(*large, *small + (std::uint64_t{200} << 20));
  EXPECT_FALSE(peak_in_child([] { fail("no"); }));
}

TEST(BenchTable, HasOneLineACase) {
  const auto text =
      bench_table({{"a44", "step_time_s", 0.7, "s", 0.5}, {"b", "peak_bytes", 1024, "B"}});
  EXPECT_EQ(text,
            "case  step_time_s  roof_share  peak_bytes\n"
            "a44   0.7          0.50\n"
            "b                              1.0 KiB\n");
}

TEST(StepProfile, LeavesOutTheFirstStepAndAddsUp) {
  StepProfile profile(2);
  for (const double seconds : {9.0, 1.0, 2.0, 7.0}) {
    profile.begin();
    { const ProfileScope scope(Part::kData); }
    EXPECT_EQ(profile.end(seconds), seconds == 2.0);
  }
  EXPECT_FALSE(profile.finish());
  const auto json = profile.json();
  EXPECT_EQ(json["steps"], 2);
  EXPECT_DOUBLE_EQ(json["step_time_s"], 1.5);
  double sum = 0;
  for (const auto& [key, value] : json.items())
    if (key != "steps" && key != "step_time_s") sum += value.get<double>();
  EXPECT_NEAR(sum, 1.5, 1e-12);
}

TEST(StepProfile, TakesTheFirstStepWhenThereIsNoOther) {
  StepProfile profile(0);
  profile.begin();
  EXPECT_FALSE(profile.end(3.0));
  EXPECT_TRUE(profile.finish());
  EXPECT_FALSE(profile.finish());
  EXPECT_EQ(profile.json()["steps"], 1);
  EXPECT_DOUBLE_EQ(profile.json()["step_time_s"], 3.0);
}

}  // namespace
}  // namespace rondo
