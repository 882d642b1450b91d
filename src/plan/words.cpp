// Numbers of a plan as people read them.
#include "plan/words.h"

#include <fmt/format.h>

#include <cmath>

namespace rondo {

std::string pair_text(const LoopCount& loops) {
  return fmt::format("({:.3g}, {:.3g})", loops.forward, loops.backward);
}

std::string nats_text(double nats) {
  if (nats == 0) return "0";
  return std::abs(nats) < 5e-5 ? fmt::format("{:.0e}", nats) : fmt::format("{:.4f}", nats);
}

std::string change_text(double change) { return fmt::format("{:+.1f} %", 100 * change); }

}  // namespace rondo
