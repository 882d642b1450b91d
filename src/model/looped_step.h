// What a whole pass and a session of the looped language model have in common: the first state and
// one loop.
#pragma once

#include "model/looped_lm.h"

namespace rondo {

/// h_0 of the positions from `first` on, given the prelude's output for them. `input` says which
/// streams a random one comes from; its tokens are not read.
Tensor first_state(const ModelConfig& config, const LoopedInput& input, const Tensor& e_BTD,
                   std::int64_t first = 0);

/// T_g of a pass whose last loop is number `loops` − 1. Throws an input error for more loops than
/// the grid "prefix" has.
std::int64_t time_grid(const ModelConfig& config, std::int64_t loops);

/// Weights of the head: the embedding's when they are tied.
const Tensor& head_weight(const LoopedLm& model);

/// Logits of what the head reads, with scale and soft cap, [B, T, V].
Tensor head_logits(const LoopedLm& model, const Tensor& normed_BTD);

/// What the loops of a pass share besides the core's weights.
struct LoopParts {
  InjectContext inject;
  HistoryContext history;
  TimestepContext time;
  Tensor norm;  ///< gains of the norm at the end of a loop; undefined = no norm

  void append_to(std::vector<Tensor>& list) const;
  [[nodiscard]] LoopParts rebuilt(const std::vector<Tensor>& list, std::size_t& next) const;
};

/// The state after a loop that begins at `point` and whose core gave y_BTD: loop gate and norm. No
/// `norm` = undefined.
Tensor end_loop(const LoopGates& gates, const Tensor& norm, const LoopPoint& point, Tensor y_BTD,
                const BlockContext& context);

/// Runs the core's layers on z_BTD; `gates` of each layer, or none at all.
using CoreLayers =
    std::function<Tensor(const Tensor& z_BTD, const std::vector<BranchGates>& gates)>;

/// The state after the loop that begins at `point`.
Tensor one_loop(const LoopParts& parts, const LoopPoint& point, const BlockContext& context,
                const CoreLayers& core);

}  // namespace rondo
