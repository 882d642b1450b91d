// How many loops a training step runs and how many of them it back-propagates.
#pragma once

#include <cstdint>

#include "config/config.h"
#include "cost/loops.h"

namespace rondo {

/// Loops of one step: the first forward − backward run without gradient.
struct LoopDraw {
  std::int64_t forward, backward;
};

/// The same for the formulas of cost.
inline LoopCount count_of(LoopDraw loops) {
  return {static_cast<double>(loops.forward), static_cast<double>(loops.backward)};
}

/// The draw of a step, from (seed, step) alone, so that a resumed run draws the same. But for a
/// schedule the mean of `forward` is loops.forward (before the cap loops.max):
///   fixed              always loops.forward
///   schedule           scheduled_loops(): from loops.start to loops.forward
///   uniform            1 … 2 forward − 1, equally likely
///   poisson-lognormal  1 + Poisson(rate), rate log-normal with mean forward − 1, sigma 0.5
/// (Huginn's sampler, Geiping et al., 2502.05171, with the added 1 taken out of the mean.)
LoopDraw draw_loops(const LoopsConfig& loops, std::uint64_t seed, std::int64_t step);

}  // namespace rondo
