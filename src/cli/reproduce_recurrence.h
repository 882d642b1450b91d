// `rondo reproduce recurrence`: forms of conditioning trained, looped further, and probed.
#pragma once

#include <cstdint>
#include <string>

namespace rondo {

/// What was asked for.
struct ReproduceRecurrence {
  std::string scale;  ///< empty = smoke
  std::string only;   ///< one table; empty = all
  std::string out;
  std::int64_t threads = 0;  ///< 0 = all cores
  bool json = false;
};

/// Trains, sweeps and probes what is not done yet and writes tables, expectations and page. Goes on
/// where an earlier call stopped.
void reproduce_recurrence(const ReproduceRecurrence& request, int& status);

}  // namespace rondo
