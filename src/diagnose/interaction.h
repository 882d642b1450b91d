// Computational interaction: what skipping one run of a block changes in the updates of all later
// ones (Zhuang et al., 2609.36636, C.4), its curve over the distance in loops, and the response of
// the last blocks.
#pragma once

#include <optional>
#include <vector>

#include "diagnose/occurrences.h"
#include "diagnose/sequences.h"

namespace rondo {

/// u_j is output less input of occurrence j, u_j' the same with occurrence i skipped, its output
/// being its input. Means over positions; [L, L] matrices by row i, zero unless i < j.
struct InteractionMatrix {
  std::size_t size = 0;        ///< L
  std::vector<double> update;  ///< B_j: mean ‖u_j‖, [L]
  std::vector<double> change;  ///< N_ij: mean ‖u_j' − u_j‖
  std::vector<double> share;   ///< C_ij = N_ij / B_j; 0 where B_j ≤ 1e-8

  [[nodiscard]] double at(std::size_t i, std::size_t j) const { return share[i * size + j]; }
};

/// Running sums of these. One pass a skipped occurrence, begun at that occurrence.
class Interaction {
 public:
  Interaction(const LoopedLm& model, std::int64_t loops);

  void add(const ProbeSequence& sequence);
  [[nodiscard]] InteractionMatrix matrix() const;

  [[nodiscard]] const Occurrences& occurrences() const { return occurrences_; }
  /// Blocks that have run so far.
  [[nodiscard]] std::int64_t block_runs() const { return block_runs_; }

 private:
  const LoopedLm& model_;
  Occurrences occurrences_;
  std::vector<double> update_, change_;
  double positions_ = 0;
  std::int64_t block_runs_ = 0;
};

/// Mean of C_ij over pairs of core occurrences whose loops lie `lag` apart.
struct LagMean {
  std::int64_t lag = 0;
  double value = 0;
  std::int64_t pairs = 0;
};

/// By lag from 0. In a pass of more loops than trained both loops of a pair lie beyond the trained
/// ones; else all count.
std::vector<LagMean> lag_curve(const InteractionMatrix& matrix, const Occurrences& occurrences,
                               std::int64_t trained_loops);
/// Mean over all pairs with a lag of 1 or more, every pair alike; NaN when there are none.
double mean_from_lag_1(const std::vector<LagMean>& curve);

/// C_ij averaged over skips of as many occurrences as the model has layers, beginning with the
/// first beyond the depth of training p + s K + c; over its mean on the occurrences of the last
/// loop.
struct Response {
  std::size_t first_skip = 0, last_skip = 0;
  std::vector<double> value;  ///< of the occurrences after the last skip
  double terminal = 0;        ///< its mean over the coda; without one its last value
};

/// Nothing where a skip reaches into the last loop: there are too few loops beyond the trained
/// ones.
std::optional<Response> response(const InteractionMatrix& matrix, const Occurrences& occurrences,
                                 std::int64_t trained_loops);

/// Fewest loops that response() has a value for.
std::int64_t loops_for_response(const ModelConfig& config, std::int64_t trained_loops);

}  // namespace rondo
