// Ctrl-C and SIGTERM as a wish that long work looks at between steps.
#pragma once

#include <csignal>

namespace rondo {

/// Turns SIGINT and SIGTERM into a request to stop. A second signal, more than a second later, ends
/// the process at once, as a person who presses Ctrl-C again means it.
///
/// A thread that does nothing else takes the signals; the calling thread and those it starts from
/// then on block them. To be called before threads are started, and again in a forked child.
void catch_interrupts();

/// The signal that asked to stop, or 0.
int interrupt_signal();

/// Exit status of a run that a signal stopped: 128 + signal (130 for SIGINT, 143 for SIGTERM).
int interrupt_exit_status();

/// Pretends that a signal came (0 clears it); for tests and for callers that stop work themselves.
void set_interrupt(int signal);

/// Programs started while it lives take SIGINT and SIGTERM: they inherit what the thread that
/// starts them blocks. Not to be held during products (see interrupt.cpp).
class OpenInterrupts {
 public:
  OpenInterrupts();
  ~OpenInterrupts();
  OpenInterrupts(const OpenInterrupts&) = delete;
  OpenInterrupts& operator=(const OpenInterrupts&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace rondo
