// The accumulating timers.
#include "tensor/profile.h"

#include <atomic>
#include <cstdint>

namespace rondo {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<bool> counting = false;
std::array<std::atomic<std::int64_t>, kParts> nanoseconds{};
thread_local bool inside = false;

}  // namespace

const std::array<PartName, kParts>& part_names() {
  static constexpr std::array<PartName, kParts> kNames = {{
      {"products", "matrix products"},
      {"attention", "attention"},
      {"elementwise", "norms, SwiGLU, rotation"},
      {"head_and_loss", "head and loss"},
      {"optimizer", "optimizer"},
      {"data", "data"},
  }};
  return kNames;
}

void count_parts(bool on) { counting = on; }

PartSeconds counted_parts() {
  PartSeconds seconds{};
  for (std::size_t i = 0; i < kParts; ++i)
    seconds[i] = 1e-9 * static_cast<double>(nanoseconds[i].load());
  return seconds;
}

void clear_counted_parts() {
  for (auto& part : nanoseconds) part = 0;
}

ProfileScope::ProfileScope(Part part)
    : part_(part), counts_(counting.load(std::memory_order_relaxed) && !inside) {
  if (!counts_) return;
  inside = true;
  start_ = Clock::now();
}

ProfileScope::~ProfileScope() {
  if (!counts_) return;
  inside = false;
  nanoseconds[static_cast<std::size_t>(part_)] +=
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count();
}

}  // namespace rondo
