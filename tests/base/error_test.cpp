// The error type and the wish to stop.
#include "base/error.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "base/interrupt.h"

namespace rondo {
namespace {

template <typename Action>
Error caught(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return Error("nothing was thrown");
}

TEST(Error, CarriesMessageAndExitStatus) {
  const auto input = caught([] { fail("{}: expected {}", "recipe.toml", 3); });
  EXPECT_STREQ(input.what(), "recipe.toml: expected 3");
  EXPECT_EQ(input.fault(), Fault::kInput);
  EXPECT_EQ(input.exit_status(), 2);
  const auto work = caught([] { fail_work("the disk is full"); });
  EXPECT_STREQ(work.what(), "the disk is full");
  EXPECT_EQ(work.exit_status(), 1);
}

TEST(Error, RequireThrowsOnlyWhenTheConditionFails) {
  EXPECT_NO_THROW(require(true, "never"));
  EXPECT_STREQ(caught([] { require(false, "{} of {}", 1, 2); }).what(), "1 of 2");
}

TEST(Interrupt, ASignalBecomesAWish) {
  EXPECT_EQ(interrupt_signal(), 0);
  catch_interrupts();
  std::raise(SIGTERM);
  EXPECT_EQ(interrupt_signal(), SIGTERM);
  EXPECT_EQ(interrupt_exit_status(), 143);
  set_interrupt(SIGINT);
  EXPECT_EQ(interrupt_exit_status(), 130);
  set_interrupt(0);
  EXPECT_EQ(interrupt_signal(), 0);
}

TEST(InterruptDeathTest, ALaterSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        catch_interrupts();
        std::raise(SIGINT);
        std::raise(SIGINT);  // at once: the same wish said twice
        std::this_thread::sleep_for(std::chrono::milliseconds(2100));
        std::raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace rondo
