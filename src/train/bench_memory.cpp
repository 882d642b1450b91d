// Peak memory by a child process.
#include "train/bench_memory.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>

#include "base/interrupt.h"
#include "base/log.h"

namespace rondo {

std::optional<std::uint64_t> peak_in_child(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child < 0) return std::nullopt;
  if (child == 0) {
    catch_interrupts();
    int status = 0;
    try {
      work();
    } catch (const std::exception& error) {
      log("{}", error.what());
      status = 1;
    }
    ::_exit(status);
  }
  int status = 0;
  struct rusage used {};
  if (::wait4(child, &status, 0, &used) != child || status != 0) return std::nullopt;
  constexpr std::uint64_t kUnit = 1024;  // the system counts in KiB
  return static_cast<std::uint64_t>(used.ru_maxrss) * kUnit;
}

}  // namespace rondo
