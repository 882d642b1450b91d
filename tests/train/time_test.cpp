// The measured machine and the cost model against real training steps.
#include "cost/time.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/machine.h"
#include "base/statistics.h"
#include "config/recipe.h"
#include "data/dataset.h"
#include "nn/engine.h"
#include "tensor/machine_speed.h"
#include "train/preflight.h"
#include "train/settle.h"
#include "train/step.h"

namespace rondo {
namespace {

class Time : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("rondo-time-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    std::ofstream text(folder_ / "text.txt");
    for (int line = 0; line < 3000; ++line) text << "line " << line * line << " of a text\n";
    ::setenv("RONDO_CACHE", (folder_ / "cache").c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("RONDO_CACHE");
    fs::remove_all(folder_);
  }

  Config settled(Overrides set) const {
    set.insert(set.end(), {"data.path=" + (folder_ / "text.txt").string(), "data.validation=0.2",
                           "train.batch=4", "data.sequence_length=128"});
    return settle(parse_recipe("", "recipe", set), 256);
  }

  static double median_step(const Config& config) {
    const auto data = open_dataset(config.data);
    const auto batches = window_batches(data.training, config.train);
    Model model = initial_model(config.model, config.seed);
    Optimizer optimizer(named_parameters(model), config.train);
    std::vector<double> seconds;
    for (std::int64_t step = 1; step <= 8; ++step) {
      const auto start = std::chrono::steady_clock::now();
      run_step(config, batches, model, optimizer, step);
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
      if (step > 2) seconds.push_back(passed.count());
    }
    return median(seconds);
  }

  fs::path folder_;
};

TEST_F(Time, TheMeasurementIsWhatTheCostModelReads) {
  const auto json = measure_machine_speed();
  const auto speed = machine_speed_from(json, "measurement");
  EXPECT_EQ(speed.machine, machine_name());
  EXPECT_EQ(speed.threads, json["threads"]);
  EXPECT_EQ(to_json(machine_speed_from(to_json(speed), "again")), to_json(speed));
  EXPECT_GT(speed.roof_gflops(), 0.1);
  EXPECT_GT(speed.bandwidth_gbps(), 0.1);
  // Written and found again; the preflight then uses it.
  auto config = settled({"train.steps=10"});
  config.engine.threads = speed.threads;
  EXPECT_FALSE(preflight(config, 1e5, 100).measured);
  cache_machine_speed(speed);
  const auto facts = preflight(config, 1e5, 100);
  EXPECT_TRUE(facts.measured);
  EXPECT_DOUBLE_EQ(
      facts.seconds,
      run_seconds(config, config.model.vocab, config.train.micro_batch, speed).total());
  EXPECT_EQ(measured_machine_speed(speed.threads, false).products[0].gflops,
            speed.products[0].gflops);
}

TEST_F(Time, SlowEstimatesAreNearRealSteps) {
  // Generous, as test machines are busy; docs/cost.md says how near it comes alone.
  constexpr double kFactor = 1.5;
  const std::vector<Overrides> models = {
      {"size=xs", "loops.forward=3", "loops.backward=3"},
      {"loops.forward=4", "loops.backward=1"},
      {"size=xs", "model.vocab=4096", "loops.forward=1", "loops.backward=1"}};
  for (const auto& model : models) {
    const auto config = settled(model);
    use_engine(config.engine);
    double ratio = 0;
    // A process beside this one disturbs either side of the comparison, so there are three tries.
    for (int attempt = 0; attempt < 3; ++attempt) {
      const auto speed = machine_speed_from(measure_machine_speed(), "measurement");
      ratio = step_seconds(config, config.model.vocab, config.train.micro_batch, speed).total() /
              median_step(config);
      if (ratio > 1 / kFactor && ratio < kFactor) break;
    }
    EXPECT_GT(ratio, 1 / kFactor) << model.front();
    EXPECT_LT(ratio, kFactor) << model.front();
  }
}

}  // namespace
}  // namespace rondo
