// The signal handler, its one flag, and the thread that it runs on.
//
// A handler must not run on a thread that computes. oneDNN's generated product code (AVX2 and
// AVX-512, fp32) keeps an address of the heap in the stack register, and the kernel puts a
// handler's frame right below the stack register: over whatever the heap holds there. So computing
// threads block the signals, and a thread that only waits takes them.
#include "base/interrupt.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <system_error>
#include <thread>

namespace rondo {
namespace {

std::atomic<int> received = 0;
std::atomic<std::time_t> received_at = 0;
static_assert(std::atomic<int>::is_always_lock_free &&
                  std::atomic<std::time_t>::is_always_lock_free,
              "what a signal handler may touch");

/// The first signal is a wish, a later one is meant. One that comes at once is the same wish said
/// twice: `timeout` and terminals signal a process and its group.
void on_signal(int signal) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  if (received == 0) {
    received_at = now.tv_sec;
    received = signal;
  } else if (now.tv_sec > received_at + 1) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

sigset_t both_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

[[noreturn]] void listen() {
  const auto signals = both_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  for (;;) ::pause();
}

}  // namespace

void catch_interrupts() {
  static pid_t listening = 0;  // threads do not survive a fork
  if (listening == ::getpid()) return;
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, on_signal);
  const auto signals = both_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  try {
    std::thread(listen).detach();
    listening = ::getpid();
  } catch (const std::system_error&) {  // no thread to be had: better to be interrupted anywhere
    ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  }
}

int interrupt_signal() { return received; }

int interrupt_exit_status() { return 128 + received; }

void set_interrupt(int signal) { received = signal; }

OpenInterrupts::OpenInterrupts() {
  const auto signals = both_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &signals, &before_);
}

OpenInterrupts::~OpenInterrupts() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace rondo
