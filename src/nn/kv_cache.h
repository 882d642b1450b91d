// Keys and values of positions that were read, so that the next ones cost only their own work.
#pragma once

#include "nn/block.h"

namespace rondo {

/// What one layer (of one loop) keeps of the positions read so far. Room is doubled when it runs
/// out, so that a token seldom copies what is there.
class KvCache {
 public:
  /// Adds the keys and values of the next positions, each [B, T, G, K].
  void append(const Tensor& k_BTGK, const Tensor& v_BTGK);

  /// Positions kept.
  [[nodiscard]] std::int64_t length() const { return length_; }
  /// Their keys, [B, G, S, K].
  [[nodiscard]] Tensor keys() const { return k_BGSK_.narrow(2, 0, length_); }
  /// Their values, [B, G, S, K].
  [[nodiscard]] Tensor values() const { return v_BGSK_.narrow(2, 0, length_); }

 private:
  std::int64_t length_ = 0;
  Tensor k_BGSK_, v_BGSK_;  ///< with room for more positions
};

/// The positions that follow those in `cache` through one block, as forward() in block.h; adds
/// theirs to the cache. `context.rotary` begins with the first of them; who may attend to whom is
/// causality alone. No gradients.
Tensor forward(const PackedBlock& block, const Tensor& x_BTD, const BlockContext& context,
               KvCache& cache, const BranchGates& gates = {});

}  // namespace rondo
