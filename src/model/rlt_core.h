// The recurrent core of an RLT: from the encoder's output and the memory to the states, token by
// token or chunk by chunk. Training, evaluation and decoding all go through run_core(); what it
// needs comes in as tensors, so that an operation with a backward pass of its own can take its
// place.
#pragma once

#include <vector>

#include "model/rlt_parts.h"

namespace rondo {

/// Weights of the core, packed once per pass.
struct CoreWeights {
  std::optional<PackedMerge> merge;  ///< absent without feedback
  std::vector<PackedDecoderBlock> decoder;

  void append_to(std::vector<Tensor>& list) const;
  [[nodiscard]] CoreWeights rebuilt(const std::vector<Tensor>& list, std::size_t& next) const;
};

/// What a core goes by besides tensors.
struct CoreSetting {
  ModelConfig config;
  RotaryTable rotary;         ///< of all positions from 0
  std::int64_t interval = 1;  ///< tokens of a chunk, B; 0 = everything at once, without feedback
  Form form = Form::kFused;
  /// Nobody asks for gradients that flow through the state from one call to the next.
  bool state_is_cut = false;
  /// Lengths of sequences that lie one after the other, falling: e and states are [1, N, D], the
  /// memory [N, H, K]. For whole sequences in the fused form; empty = [B, T, D].
  std::vector<std::int64_t> lengths = {};
};

/// Keys and values of a decoder layer's last W − 1 positions or fewer, [B, G, n, K]; undefined
/// before the first token.
struct WindowKv {
  Tensor k_BGSK, v_BGSK;
};

/// What the decoder carries from token to token.
struct DecoderState {
  std::int64_t position = 0;      ///< tokens read so far
  Tensor register_BD;             ///< state at the end of the last whole chunk; undefined before it
  std::vector<WindowKv> windows;  ///< one a layer

  /// Makes the register, the keys and values, or both, constants for the gradient.
  void cut(bool state, bool kv);
};

/// s of the next T positions, [B, T, D], given the encoder's output for them; moves `state` on.
/// The memory covers all positions up to the last of them (it may go on beyond).
///
/// Chunks are counted from position 0 of the sequence wherever this call begins: all tokens of a
/// chunk read the register of the chunk before, and only a whole chunk writes it. So a sequence may
/// be cut into calls anywhere, inside a chunk too.
Tensor run_core(const CoreWeights& weights, const CoreSetting& setting, const Tensor& e_BTD,
                const MemoryKv& memory, DecoderState& state);

}  // namespace rondo
