// `rondo reproduce rlt`: the experiments of the recurrent looped transformer again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rondo {

/// What was asked for.
struct ReproduceRlt {
  std::string scale;                       ///< empty = smoke
  std::string only;                        ///< one table; empty = those of the scale
  std::vector<std::string> tasks, models;  ///< of its runs those; empty = all
  std::int64_t stop_after = 0;             ///< step at which each run pauses; 0 = at its end
  std::string out;
  std::int64_t threads = 0;  ///< 0 = all cores
  bool json = false;
};

/// Trains what is not trained yet and writes tables, claims and page. Goes on where an earlier call
/// stopped.
void reproduce_rlt(const ReproduceRlt& request, int& status);

}  // namespace rondo
