// The error type and the wish to stop.
#include "base/error.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

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

/// Another thread takes it, so it is not there at once.
void wait_for_signal() {
  for (int i = 0; i < 1000 && interrupt_signal() == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

/// Whether the calling thread leaves SIGINT and SIGTERM to another.
bool blocks_signals() {
  sigset_t blocked;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  return sigismember(&blocked, SIGINT) == 1 && sigismember(&blocked, SIGTERM) == 1;
}

TEST(Interrupt, NoThreadThatComputesTakesASignal) {
  catch_interrupts();
  EXPECT_TRUE(blocks_signals());
  bool other = false;
  std::thread([&] { other = blocks_signals(); }).join();
  EXPECT_TRUE(other);
  {
    const OpenInterrupts open;
    EXPECT_FALSE(blocks_signals());
  }
  EXPECT_TRUE(blocks_signals());
}

TEST(InterruptDeathTest, AForkedChildHearsThemToo) {
  EXPECT_EXIT(
      {
        catch_interrupts();
        const pid_t child = ::fork();
        if (child == 0) {
          catch_interrupts();
          ::kill(::getpid(), SIGINT);
          wait_for_signal();
          ::_exit(interrupt_signal());
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 100);
      },
      testing::ExitedWithCode(SIGINT), "");
}

TEST(Interrupt, ASignalBecomesAWish) {
  EXPECT_EQ(interrupt_signal(), 0);
  catch_interrupts();
  ::kill(::getpid(), SIGTERM);
  wait_for_signal();
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
        ::kill(::getpid(), SIGINT);
        wait_for_signal();
        ::kill(::getpid(), SIGINT);  // at once: the same wish said twice
        std::this_thread::sleep_for(std::chrono::milliseconds(2100));
        ::kill(::getpid(), SIGINT);
        std::this_thread::sleep_for(std::chrono::seconds(10));
      },
      testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace rondo
