// Reading a text bit by bit with an RLT: what was read stays as keys, values and the decoder's
// state. Reading all at once, token by token, or anything between gives the same states.
#pragma once

#include "model/rlt.h"
#include "nn/kv_cache.h"

namespace rondo {

/// Sequences of equal length that are read together. The model must outlive it and stay as it is.
class RltSession {
 public:
  /// `interval`: tokens between two feedbacks; that of the model unless told otherwise.
  explicit RltSession(const Rlt& model, std::optional<std::int64_t> interval = {});

  /// Reads the next tokens of every row; s_t of each, [B, T, D]. No gradients.
  Tensor extend(const Tensor& tokens_BT);

  /// Tokens read so far.
  [[nodiscard]] std::int64_t position() const { return state_.position; }

 private:
  const Rlt& model_;
  CoreSetting setting_;
  CoreWeights weights_;
  std::vector<PackedBlock> encoder_;
  std::vector<KvCache> encoder_kv_;
  MemoryKv memory_;
  DecoderState state_;
};

}  // namespace rondo
