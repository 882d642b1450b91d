// Log lines and the progress line.
#include "base/log.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace rondo {
namespace {

// Whether an unfinished progress line stands on the terminal. There is one stderr, hence one flag.
bool progress_line_shown = false;

/// Never throws for want of a reader: a closed terminal or a full log must not end a run.
template <typename... Args>
void say(fmt::format_string<Args...> text, Args&&... args) {
  std::fputs(fmt::format(text, std::forward<Args>(args)...).c_str(), stderr);
}

void clear_progress_line() {
  if (progress_line_shown) std::fputs("\r\x1b[K", stderr);
  progress_line_shown = false;
}

}  // namespace

void log_line(std::string_view line) {
  clear_progress_line();
  say("{}\n", line);
}

bool stderr_is_terminal() {
  static const bool terminal = ::isatty(STDERR_FILENO) == 1;
  return terminal;
}

Progress::~Progress() { clear_progress_line(); }

bool Progress::due() const {
  using std::chrono::milliseconds;
  const auto gap = stderr_is_terminal() ? milliseconds(100) : milliseconds(10000);
  return std::chrono::steady_clock::now() - last_ >= gap;
}

std::string Progress::labelled(std::string_view text) const {
  return label_.empty() ? std::string(text) : fmt::format("{}: {}", label_, text);
}

void Progress::keep(std::string_view text) const { log_line(labelled(text)); }

void Progress::update(std::string_view text) {
  last_ = std::chrono::steady_clock::now();
  const auto line = labelled(text);
  if (!stderr_is_terminal()) return log_line(line);
  say("\r\x1b[K{}", line);
  std::fflush(stderr);
  progress_line_shown = true;
}

}  // namespace rondo
