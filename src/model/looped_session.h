// Reading a text bit by bit with a looped language model: what was read stays as keys and values of
// every layer, of the core's in every loop. Reading all at once, token by token, or anything
// between gives the same logits.
#pragma once

#include "model/looped_lm.h"
#include "nn/kv_cache.h"

namespace rondo {

/// Sequences of equal length that are read together. The model must outlive it and stay as it is.
class LoopedSession {
 public:
  /// Every token goes through `loops` loops. `streams`: where random first states come from, as in
  /// a whole pass; its tokens are not read. Throws an input error for loops that the model's
  /// timestep grid does not have.
  LoopedSession(const LoopedLm& model, std::int64_t loops, LoopedInput streams = {});

  /// Reads the next tokens of every row; what the head reads of each, [B, T, D]. No gradients.
  Tensor extend(const Tensor& tokens_BT);

  /// Logits of what extend() gave, or of some of its positions, [B, T, V].
  [[nodiscard]] Tensor logits(const Tensor& read_BTD) const;

  /// Tokens read so far.
  [[nodiscard]] std::int64_t position() const { return position_; }

 private:
  const LoopedLm& model_;
  std::int64_t loops_, position_ = 0;
  LoopedInput streams_;
  RotaryTable rotary_;  ///< of more positions than were read
  std::vector<PackedBlock> prelude_, core_, coda_;
  HistoryContext history_;
  TimestepContext time_;
  std::vector<KvCache> prelude_kv_, core_kv_, coda_kv_;  ///< core: loop by loop, then layer
};

}  // namespace rondo
