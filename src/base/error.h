// The one exception type of the project and the helper that throws it.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace rondo {

/// Whose fault it is, and with it the exit status of the program.
enum class Fault {
  kWork = 1,   ///< the work itself failed: a full disk, a diverged run
  kInput = 2,  ///< bad usage, config or input
};

/// Everything a user can cause. The message says what, where, what was expected and what to do, in
/// one or two lines without C++ names. Libraries' exceptions are translated to it in `main`.
class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& message) : std::runtime_error(message), fault_(fault) {}
  explicit Error(const std::string& message) : Error(Fault::kInput, message) {}

  [[nodiscard]] Fault fault() const { return fault_; }
  [[nodiscard]] int exit_status() const { return static_cast<int>(fault_); }

 private:
  Fault fault_;
};

/// Throws an input error with the formatted message.
template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(fmt::format(text, std::forward<Args>(args)...));
}

/// Throws an error of the work (exit status 1) with the formatted message.
template <typename... Args>
[[noreturn]] void fail_work(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(Fault::kWork, fmt::format(text, std::forward<Args>(args)...));
}

/// Throws an input error with the formatted message unless `condition` holds.
template <typename... Args>
void require(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  if (!condition) fail(text, std::forward<Args>(args)...);
}

}  // namespace rondo
