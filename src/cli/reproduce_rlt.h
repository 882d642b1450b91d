// `rondo reproduce rlt`: the experiments of the recurrent looped transformer again.
#pragma once

#include <string>

namespace rondo {

/// What was asked for.
struct ReproduceRlt {
  std::string scale;  ///< empty = smoke
  std::string only;   ///< one table; empty = those of the scale
  std::string out;
  bool json = false;
};

/// Trains what is not trained yet and writes tables, claims and page. Goes on where an earlier call
/// stopped.
void reproduce_rlt(const ReproduceRlt& request, int& status);

}  // namespace rondo
