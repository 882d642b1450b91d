// Ctrl-C and SIGTERM as a wish that long work looks at between steps.
#pragma once

namespace rondo {

/// Turns SIGINT and SIGTERM into a request to stop. A second signal, more than a second later, ends
/// the process at once, as a person who presses Ctrl-C again means it.
void catch_interrupts();

/// The signal that asked to stop, or 0.
int interrupt_signal();

/// Exit status of a run that a signal stopped: 128 + signal (130 for SIGINT, 143 for SIGTERM).
int interrupt_exit_status();

/// Pretends that a signal came (0 clears it); for tests and for callers that stop work themselves.
void set_interrupt(int signal);

}  // namespace rondo
