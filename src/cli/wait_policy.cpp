// Lets idle threads sleep soon instead of spin long, decided before the OpenMP library starts.
#include <unistd.h>

#include <array>
#include <cstring>

namespace {

bool starts_with(const char* text, const char* prefix) {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

/// Starts the program over with a short spin (some ten microseconds, then sleep) unless the user
/// has chosen otherwise. A thread that spins long holds the core that its partner or another
/// process waits for: beside one busy process a training step took up to twenty times as long. One
/// that sleeps at once pays for every wake-up: small models ran at 0.6 of their speed
/// (docs/LOG.md).
///
/// The OpenMP library reads its environment once, when it is loaded, so setting a variable in main
/// is too late; and libc takes its own copy of the environment after this table has run, so setting
/// it here would be undone. What remains is to start over, before any library has done its work.
void prefer_sleeping(int, char** argv, char** environment) {
  constexpr std::size_t kMost = 4096;
  static std::array<char*, kMost + 2> changed;
  static char policy[] = "GOMP_SPINCOUNT=1000";
  std::size_t count = 0;
  for (; environment[count] != nullptr; ++count) {
    const bool chosen = starts_with(environment[count], "OMP_WAIT_POLICY=") ||
                        starts_with(environment[count], "GOMP_SPINCOUNT=");
    if (chosen || count == kMost) return;
    changed[count] = environment[count];
  }
  changed[count] = policy;
  ::execve("/proc/self/exe", argv, changed.data());  // returns only when it failed: then we spin
}

// Worked off before the constructors of every library.
__attribute__((section(".preinit_array"),
               used)) void (*const kBeforeLibraries)(int, char**, char**) = prefer_sleeping;

}  // namespace
