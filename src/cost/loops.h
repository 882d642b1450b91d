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

/// T of step `step` (from 1) under the sampler "schedule": the line from `start` in step 1 to
/// `forward` in step schedule_steps + 1, to the nearest whole number (halves go up), and `forward`
/// from there on.
std::int64_t scheduled_loops(const LoopsConfig& loops, std::int64_t step);

/// loops.forward and the B that goes with it. Under a sampler this is the nominal pair.
LoopCount nominal_loops(const LoopsConfig& loops);

/// The most loops one step can run: loops.forward unless drawn, then the largest possible draw.
LoopCount largest_loops(const LoopsConfig& loops);

/// The fewest loops that one step can run.
std::int64_t smallest_loops(const LoopsConfig& loops);

/// Parameters (mu, sigma) of the log-normal rate behind the Poisson-log-normal draw
/// T = 1 + Poisson(rate), rate ~ LogNormal(mu, 0.5), with mean `forward` before the cap
/// (seal-rg/recurrent-pretraining, with its rate lowered by the 1 that is added). `forward` > 1.
struct RateLaw {
  double mu, sigma;
};
RateLaw poisson_lognormal_rate(std::int64_t forward);

/// Probability of drawing T = i + 1, for T up to loops.max, where the cap gathers the rest. Of a
/// schedule the share of the first `steps` steps that run so many, for T up to loops.forward.
std::vector<double> loop_law(const LoopsConfig& loops, std::int64_t steps);

/// Means of T and of min(B, T) over the draws, or over the `steps` steps of a schedule. Every FLOPs
/// formula is linear in these two, so their means give the mean cost.
LoopCount expected_loops(const LoopsConfig& loops, std::int64_t steps);

}  // namespace rondo
