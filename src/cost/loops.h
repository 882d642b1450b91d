// How many loops a training step runs and back-propagates: the law of the draws and its means.
#pragma once

#include <cstdint>
#include <vector>

#include "config/config.h"

namespace rondo {

/// Loops of a pass. Real numbers, so that they can also be means over draws.
struct LoopCount {
  double forward = 1;   ///< T, or r at inference
  double backward = 1;  ///< B, never more than T
};

/// B that a step with T = `forward` back-propagates: the last min(backward, forward) loops, all of
/// them when `backward` is 0.
std::int64_t backward_loops(std::int64_t forward, std::int64_t backward);

/// loops.forward and the B that goes with it. Under a sampler this is the nominal pair.
LoopCount nominal_loops(const LoopsConfig& loops);

/// The most loops one step can run: loops.forward when fixed, else the largest possible draw.
LoopCount largest_loops(const LoopsConfig& loops);

/// Parameters (mu, sigma) of the log-normal rate behind the Poisson-log-normal draw
/// T = 1 + Poisson(rate), rate ~ LogNormal(mu, 0.5), with mean `forward` before the cap
/// (seal-rg/recurrent-pretraining, with its rate lowered by the 1 that is added). `forward` > 1.
struct RateLaw {
  double mu, sigma;
};
RateLaw poisson_lognormal_rate(std::int64_t forward);

/// Probability of drawing T = i + 1, for T up to loops.max, where the cap gathers the rest.
std::vector<double> loop_law(const LoopsConfig& loops);

/// Means of T and of min(B, T) over the draws. Every FLOPs formula is linear in these two, so their
/// means give the mean cost.
LoopCount expected_loops(const LoopsConfig& loops);

}  // namespace rondo
