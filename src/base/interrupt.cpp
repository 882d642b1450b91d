// The signal handler and its one flag.
#include "base/interrupt.h"

#include <csignal>
#include <ctime>
#include <initializer_list>

namespace rondo {
namespace {

volatile std::sig_atomic_t received = 0;
volatile std::time_t received_at = 0;

/// The first signal is a wish, a later one is meant. One that comes at once is the same wish said
/// twice: `timeout` and terminals signal a process and its group.
void on_signal(int signal) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  if (received == 0) {
    received = signal;
    received_at = now.tv_sec;
  } else if (now.tv_sec > received_at + 1) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

}  // namespace

void catch_interrupts() {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, on_signal);
}

int interrupt_signal() { return received; }

int interrupt_exit_status() { return 128 + received; }

void set_interrupt(int signal) { received = signal; }

}  // namespace rondo
