// The path of the state: angle, relative update and variance (Zhuang et al., 2609.36636, C.4), at
// every block and at every loop.
#pragma once

#include "diagnose/occurrences.h"
#include "diagnose/sequences.h"

namespace rondo {

/// Means over sequences (angle) or over all positions of all sequences alike (the others).
struct Path {
  std::vector<double> block_angle, block_update;  ///< [occurrences]
  std::vector<double> loop_angle, loop_update;    ///< [r]: from the state before a loop to after
  std::vector<double> variance;                   ///< [r + 1]: V of the state after t loops
  /// V(z) / V(x_t), V(y) / V(z), V(x_{t+1}) / V(y), where z goes into the core (injection and
  /// history done) and y comes out, before gate and norm. [r] each.
  std::vector<double> inject_gain, core_gain, mix_gain;
};

/// Running sums of these; of the states only one is kept.
class Trajectory {
 public:
  Trajectory(const ModelConfig& config, std::int64_t loops);

  /// To be shown every block of a pass over one sequence, and every state.
  void add_block(const BlockRun& run);
  void add_state(std::int64_t loop, const Tensor& state_BTD);
  /// Ends a sequence.
  void end_sequence(std::int64_t positions);

  [[nodiscard]] Path path() const;

 private:
  Occurrences occurrences_;
  std::vector<double> block_angle_, block_update_, loop_angle_, loop_update_;
  std::vector<double> state_, injected_, core_;  // summed variances
  Tensor last_state_;
  double sequences_ = 0, positions_ = 0;
};

/// V(x_t) / V(x_K); nothing when the pass has fewer than K loops.
std::vector<double> normalised(const std::vector<double>& variance, std::int64_t trained_loops);

}  // namespace rondo
