// The signal handler and its one flag.
#include "base/interrupt.h"

#include <csignal>
#include <initializer_list>

namespace rondo {
namespace {

volatile std::sig_atomic_t received = 0;

void on_signal(int signal) {
  received = signal;
  // The next one takes its default course and kills.
  std::signal(signal, SIG_DFL);
}

}  // namespace

void catch_interrupts() {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, on_signal);
}

int interrupt_signal() { return received; }

int interrupt_exit_status() { return 128 + received; }

void set_interrupt(int signal) { received = signal; }

}  // namespace rondo
