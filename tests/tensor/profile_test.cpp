// The timers behind `train --profile`.
#include "tensor/profile.h"

#include <gtest/gtest.h>

#include <thread>

#include "tensor/ops.h"

namespace rondo {
namespace {

using std::chrono::milliseconds;

class Profile : public testing::Test {
 protected:
  void SetUp() override { clear_counted_parts(); }
  void TearDown() override { count_parts(false); }
};

double seconds_of(Part part) { return counted_parts()[static_cast<std::size_t>(part)]; }

double all_seconds() {
  double sum = 0;
  for (const double seconds : counted_parts()) sum += seconds;
  return sum;
}

TEST_F(Profile, CountsNothingUnlessAsked) {
  {
    const ProfileScope scope(Part::kProducts);
    std::this_thread::sleep_for(milliseconds(2));
  }
  EXPECT_EQ(all_seconds(), 0);
}

TEST_F(Profile, TimeBelongsToTheOutermostScope) {
  count_parts(true);
  const auto start = std::chrono::steady_clock::now();
  {
    const ProfileScope outer(Part::kHead);
    const ProfileScope inner(Part::kProducts);
    std::this_thread::sleep_for(milliseconds(5));
  }
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - start;
  EXPECT_GE(seconds_of(Part::kHead), 0.005);
  EXPECT_EQ(seconds_of(Part::kProducts), 0);
  EXPECT_LE(all_seconds(), whole.count());
}

TEST_F(Profile, ThreadsAddUp) {
  count_parts(true);
  const auto work = [] {
    const ProfileScope scope(Part::kData);
    std::this_thread::sleep_for(milliseconds(5));
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
  EXPECT_GE(seconds_of(Part::kData), 0.010);
}

TEST_F(Profile, OperationsSayWhatTheyAre) {
  const auto x = at::ones({4, 8}).requires_grad_(true), weight = at::ones({16, 8});
  const auto out = norm_project(x, at::ones({8}), 1e-5, weight, Form::kFused);
  EXPECT_EQ(all_seconds(), 0);
  count_parts(true);
  back_propagate(out.sum());
  EXPECT_GT(seconds_of(Part::kProducts), 0);
  EXPECT_GT(seconds_of(Part::kElementwise), 0);
  EXPECT_EQ(seconds_of(Part::kHead), 0);
}

}  // namespace
}  // namespace rondo
