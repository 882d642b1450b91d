// Speeds between measured points, their JSON, and the file that keeps them.
#include "cost/machine_speed.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/machine.h"
#include "base/version.h"
#include "tests/cost/speeds.h"

namespace rondo {
namespace {

using test::even_speed;

TEST(MachineSpeed, ProductsAreInterpolatedOverBytesPerFlop) {
  auto speed = even_speed();
  EXPECT_DOUBLE_EQ(product_seconds(speed, 500, 100, 20), 2.0 * 500 * 100 * 20 / 100e9);
  // 2 · (1 + 1 + 1) / 100 bytes a FLOP at 200 GFLOP/s, 2 · 3 / 10 at 50.
  speed.products = {{10, 10, 10, 50}, {100, 100, 100, 200}};
  EXPECT_DOUBLE_EQ(product_seconds(speed, 100, 100, 100), 2e6 / 200e9);
  EXPECT_DOUBLE_EQ(product_seconds(speed, 10, 10, 10), 2e3 / 50e9);
  // Half-way between the two in bytes per FLOP, so half-way in seconds per FLOP.
  const double middle = 3.0 / (0.5 * (0.3 + 0.03));
  EXPECT_NEAR(product_seconds(speed, middle, middle, middle) / (2 * middle * middle * middle),
              0.5 * (1 / 50e9 + 1 / 200e9), 1e-20);
  // Thicker than all: no faster. Thinner than all: slower in proportion to the traffic.
  EXPECT_DOUBLE_EQ(product_seconds(speed, 1e4, 1e4, 1e4), 2e12 / 200e9);
  EXPECT_DOUBLE_EQ(product_seconds(speed, 5, 5, 5), 250 / 25e9);
}

TEST(MachineSpeed, AttentionIsAffineInTheWidthAndFollowsTheLength) {
  auto speed = even_speed();
  EXPECT_DOUBLE_EQ(attention_pair_seconds(speed, 128, 64, false), 1e-9);
  EXPECT_DOUBLE_EQ(attention_pair_seconds(speed, 128, 128, false), 1.5e-9);
  EXPECT_DOUBLE_EQ(attention_pair_seconds(speed, 300, 32, true), 1.5e-9);
  speed.attention[2].forward_s = 3e-9;
  EXPECT_DOUBLE_EQ(attention_pair_seconds(speed, 256, 64, false), 2e-9);
  EXPECT_DOUBLE_EQ(attention_pair_seconds(speed, 16, 64, false), 1e-9);
  EXPECT_DOUBLE_EQ(attention_pair_seconds(speed, 4096, 64, false), 3e-9);
}

TEST(MachineSpeed, OperationsAreTheirCallAndTheirValues) {
  const OperationTimes times{
      .values = {10, 110, 1110}, .forward_s = {5, 15, 215}, .backward_s = {1, 2, 3}};
  EXPECT_EQ(call_seconds(times, false), 5);
  EXPECT_EQ(call_seconds(times, true), 1);
  EXPECT_EQ(operation_seconds(times, 1, false), 0);
  EXPECT_EQ(operation_seconds(times, 60, false), 5);
  EXPECT_EQ(operation_seconds(times, 110, false), 10);
  EXPECT_EQ(operation_seconds(times, 2220, false), 2 * 215 - 5);
}

TEST(MachineSpeed, RoofAndBandwidth) {
  EXPECT_EQ(even_speed().roof_gflops(), 100);
  EXPECT_DOUBLE_EQ(even_speed().bandwidth_gbps(), 4);
}

TEST(MachineSpeed, JsonAndBack) {
  const auto json = to_json(even_speed());
  EXPECT_EQ(to_json(machine_speed_from(Json::parse(json.dump()), "a test")), json);
}

TEST(MachineSpeed, DamagedJsonIsAnErrorThatSaysWhere) {
  const auto error_of = [](const std::function<void(Json&)>& damage) {
    auto json = to_json(even_speed());
    damage(json);
    try {
      machine_speed_from(json, "file.json");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(error_of([](Json& j) { j.erase("norm"); }).find("\"norm\" is missing"),
            std::string::npos);
  for (const Json& bad : {Json(0), Json(-1.0), Json("fast"), Json()})
    EXPECT_NE(
        error_of([&](Json& j) { j["products"][0]["gflops"] = bad; }).find("file.json: \"gflops\""),
        std::string::npos);
  EXPECT_NE(error_of([](Json& j) { j["add"] = Json::array(); }), "no error");
  EXPECT_NE(error_of([](Json& j) { j["add"][1]["values"] = 1; }), "no error");
  EXPECT_NE(error_of([](Json& j) { j["attention"] = Json::array({j["attention"][1]}); }),
            "no error");
  EXPECT_NE(error_of([](Json& j) { j = Json::array(); }), "no error");
}

class MachineCache : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("rondo-machine-" + std::to_string(::getpid()));
    ::setenv("RONDO_CACHE", folder_.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("RONDO_CACHE");
    fs::remove_all(folder_);
  }
  static MachineSpeed mine(std::int64_t threads, double gflops = 100) {
    auto speed = even_speed();
    speed.machine = machine_name();
    speed.version = kVersion;
    speed.threads = threads;
    speed.products[0].gflops = gflops;
    return speed;
  }
  fs::path folder_;
};

TEST_F(MachineCache, KeepsOneMeasurementForEachNumberOfThreads) {
  EXPECT_FALSE(cached_machine_speed(2));
  cache_machine_speed(mine(1));
  cache_machine_speed(mine(2));
  cache_machine_speed(mine(2, 150));
  ASSERT_TRUE(cached_machine_speed(2));
  EXPECT_EQ(cached_machine_speed(2)->roof_gflops(), 150);
  EXPECT_EQ(cached_machine_speed(1)->roof_gflops(), 100);
  EXPECT_FALSE(cached_machine_speed(3));
  EXPECT_EQ(Json::parse(read_file(machine_speed_file()))["measurements"].size(), 2U);
}

TEST_F(MachineCache, OtherMachinesAndVersionsAreNotThisOne) {
  auto other = mine(2);
  other.machine = "another";
  cache_machine_speed(other);
  auto older = mine(2);
  older.version = "0.0.0";
  cache_machine_speed(older);
  EXPECT_FALSE(cached_machine_speed(2));
  cache_machine_speed(mine(2));
  EXPECT_TRUE(cached_machine_speed(2));
}

TEST_F(MachineCache, DamageIsAsGoodAsAbsence) {
  cache_machine_speed(mine(2));
  for (const char* content :
       {"", "{", "[]", "{\"measurements\": 3}", "{\"measurements\": [1, {}]}"}) {
    std::ofstream(machine_speed_file()) << content;
    EXPECT_FALSE(cached_machine_speed(2)) << content;
  }
  cache_machine_speed(mine(2));
  EXPECT_TRUE(cached_machine_speed(2));
  auto json = Json::parse(read_file(machine_speed_file()));
  json["measurements"][0]["products"][0]["gflops"] = -1;
  std::ofstream(machine_speed_file()) << json.dump();
  EXPECT_FALSE(cached_machine_speed(2));
}

TEST_F(MachineCache, TheFolderIsTheFirstThatIsSet) {
  EXPECT_EQ(machine_speed_file(), folder_ / "machine.json");
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const std::string kept = cache == nullptr ? "" : cache;
  ::setenv("RONDO_CACHE", "", 1);
  ::setenv("XDG_CACHE_HOME", "elsewhere", 1);
  EXPECT_EQ(machine_speed_file(), fs::path("elsewhere") / "rondo" / "machine.json");
  if (cache == nullptr)
    ::unsetenv("XDG_CACHE_HOME");
  else
    ::setenv("XDG_CACHE_HOME", kept.c_str(), 1);
}

}  // namespace
}  // namespace rondo
