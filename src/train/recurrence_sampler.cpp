// Drawing loop counts.
#include "train/recurrence_sampler.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"

namespace rondo {
namespace {

std::int64_t draw(const LoopsConfig& loops, const RandomStream& stream) {
  switch (loops.sampler) {
    case Sampler::kFixed:
    case Sampler::kSchedule:
      break;
    case Sampler::kUniform:
      return 1 + static_cast<std::int64_t>(
                     stream.below(static_cast<std::uint64_t>(2 * loops.forward - 1), 0));
    case Sampler::kPoissonLognormal: {
      if (loops.forward == 1) return 1;
      const auto law = poisson_lognormal_rate(loops.forward);
      // Position 0 is the normal; the Poisson draw reads uniforms from a far position on.
      const double rate = std::exp(law.mu + law.sigma * stream.normal(0));
      return 1 + stream.poisson(rate, 16);
    }
  }
  return loops.forward;
}

}  // namespace

LoopDraw draw_loops(const LoopsConfig& loops, std::uint64_t seed, std::int64_t step) {
  const RandomStream stream(seed, "loops", static_cast<std::uint64_t>(step));
  auto forward = loops.forward;
  if (loops.sampler == Sampler::kSchedule) forward = scheduled_loops(loops, step);
  if (is_drawn(loops.sampler)) forward = std::min(draw(loops, stream), loops.max);
  return {forward, backward_loops(forward, loops.backward)};
}

}  // namespace rondo
