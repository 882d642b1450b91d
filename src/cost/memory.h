// Bytes that a run needs. An estimate in named terms, so that each can be held against a
// measurement.
#pragma once

#include <algorithm>
#include <cstdint>

#include "config/config.h"

namespace rondo {

/// Values (fp32) that the backward pass of one block needs, per token. D width, H heads, K head
/// width, G key/value heads, F feed-forward width.
struct BlockActivations {
  double residuals = 0;  ///< inputs of the two norms: 2 D
  double norms = 0;      ///< composed: scaled inputs, outputs, 1/rms of both norms: 4 D + 2
  double qk_norm = 0;    ///< queries and keys before QK-norm, and 1/rms: 0 without it
  double attention = 0;  ///< rotated q and k, v, output, two numbers a row; composed
                         ///< also their joint product
  double scores = 0;     ///< composed attention only: probabilities of every pair, H S
  double mlp = 0;        ///< gate and up: 2 F; composed also silu(gate), product: 4 F

  [[nodiscard]] double total() const {
    return residuals + norms + qk_norm + attention + scores + mlp;
  }
};
BlockActivations block_activations(const ModelConfig& model, std::int64_t length, bool fused);

/// The same of a block of an RLT's decoder, per token. Keys and values of a window are joined anew
/// for every chunk of tokens, and each join is kept.
double decoder_block_activations(const Config& config);

/// Peak of a training step for one micro-batch, in bytes. Only loops that are back-propagated keep
/// activations, so it follows B and not T.
struct ActivationBytes {
  double tokens = 0;   ///< ids and targets, int64
  double once = 0;     ///< prelude and coda blocks, e, final norm; an RLT's encoder and memory
  double loops = 0;    ///< all kept loops; with recompute the states between them and one loop; an
                       ///< RLT's decoder over the tokens that are back-propagated at a time
  double head = 0;     ///< logits and their gradient: of one chunk when chunked
  double scratch = 0;  ///< gradients in flight in the backward pass of one block
  double packed = 0;   ///< weights side by side for the products, and their gradients
  double slack = 0;    ///< what the allocator holds beyond the above

  /// The head and the blocks' backward passes do not run at the same time.
  [[nodiscard]] double total() const {
    return tokens + once + loops + std::max(head, scratch) + packed + slack;
  }
};

/// What the estimate depends on besides the recipe.
struct MemoryOptions {
  std::int64_t micro_batch = 1;
  /// Tokens per part of the head and loss; 0 = as the engine takes them.
  std::int64_t head_chunk_tokens = 0;
};

/// Estimate for the largest loop count that a step of this recipe can run.
ActivationBytes activation_bytes(const Config& config, std::int64_t vocab,
                                 const MemoryOptions& options);

/// Bytes of a training run.
struct MemoryBytes {
  double weights = 0;    ///< 4 a parameter
  double gradients = 0;  ///< 4 a parameter
  double optimizer = 0;  ///< AdamW's two moments, 8 a parameter, or Muon's one, 4
  double activations = 0;
  double kv_cache_per_token = 0;  ///< generation at loops.forward loops; not part of total()

  [[nodiscard]] double total() const { return weights + gradients + optimizer + activations; }
};
MemoryBytes memory_bytes(const Config& config, std::int64_t vocab, const MemoryOptions& options);

/// (p + s r + c) · 2 G K · 4: keys and values of every layer and loop, in bytes. Of an RLT those of
/// the encoder and the memory; the decoder's windows do not grow.
double kv_cache_bytes_per_token(const ModelConfig& model, double loops);

/// Largest divisor of train.batch whose activations fit into `budget_bytes` beside weights,
/// gradients and optimizer; 0 when not even one sequence does. Ignores train.micro_batch.
std::int64_t largest_micro_batch(const Config& config, std::int64_t vocab, double budget_bytes,
                                 std::int64_t head_chunk_tokens = 0);

}  // namespace rondo
