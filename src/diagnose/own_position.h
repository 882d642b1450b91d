// One loop as a map of single positions: a position's own state moves, and all else that the loop
// reads stays as it was (e, older states, keys and values of other positions).
#pragma once

#include "diagnose/sequences.h"
#include "model/looped_step.h"

namespace rondo {

/// What one loop of a pass over a sequence was given.
struct LoopInside {
  LoopPoint point;             ///< where it began
  std::vector<Tensor> before;  ///< what entered each core block, [1, S, D]
};

/// The loops of a pass of `loops` loops over one sequence, as maps of `positions` (int64 [P])
/// alone. The model must outlive it.
class OwnPosition {
 public:
  OwnPosition(const LoopedLm& model, const LoopedInput& input, const Tensor& e_BTD,
              std::int64_t loops, Tensor positions_P);

  /// The states after loop `inside.point.loop` from those before it, h_PD: row by row, so that the
  /// Jacobian is one of [D, D] for each row. With the states of the pass it gives those of the
  /// pass.
  [[nodiscard]] Tensor run(const LoopInside& inside, const Tensor& h_PD) const;

 private:
  [[nodiscard]] Tensor block(std::size_t layer, const BranchGates& gates, const Tensor& before_BTD,
                             const Tensor& x_PD) const;

  [[nodiscard]] Tensor chosen(const Tensor& x_BTD) const;

  const LoopedLm& model_;
  Tensor positions_P_, hidden_PT_;
  BlockContext all_, chosen_;
  std::vector<PackedBlock> core_;
  LoopParts parts_;
};

}  // namespace rondo
