// Words to the person at the terminal: log lines and one progress line, all on stderr.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace rondo {

/// Writes one line to stderr, clearing a progress line that stands there.
void log_line(std::string_view line);

template <typename... Args>
void log(fmt::format_string<Args...> text, Args&&... args) {
  log_line(fmt::format(text, std::forward<Args>(args)...));
}

/// Whether stderr is a terminal.
bool stderr_is_terminal();

/// Shows how long work is going. On a terminal one line is rewritten up to ten times a second;
/// elsewhere a plain line is printed every few seconds, so that log files stay short.
class Progress {
 public:
  /// `label` stands before every line ("plain, seed 42").
  explicit Progress(std::string label) : label_(std::move(label)) {}
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// True when an update would be shown now; spares the caller the formatting when it would not.
  [[nodiscard]] bool due() const;
  void update(std::string_view text);

  /// A line that stays, on a terminal too; whatever was shown just before it.
  void keep(std::string_view text) const;

 private:
  [[nodiscard]] std::string labelled(std::string_view text) const;

  std::string label_;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace rondo
