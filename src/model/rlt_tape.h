// What the fused recurrent core writes down on its way forward and reads on its way back: plain
// buffers, positions first, so that one token of all sequences is one block of rows.
#pragma once

#include "model/rlt_core.h"
#include "tensor/query_attention.h"

namespace rondo {

/// A run of positions that go through the decoder together.
struct Chunk {
  std::int64_t first, count;
  bool completes;  ///< its last state becomes the register
};

/// The chunks of `length` positions from `position` on; interval 0 = one chunk.
std::vector<Chunk> chunks_of(std::int64_t position, std::int64_t length, std::int64_t interval);

/// Queries or keys on their way into attention: what QK-norm reads and what comes out.
struct Placed {
  Tensor in, scale;  ///< [T, B, H, K], [T, B, H]; only with QK-norm
  Tensor out;        ///< [T, B, H, K]
};

/// One decoder layer. Keys and values have the window's past positions in front.
struct LayerTape {
  Tensor z, z_scale;           ///< input [T, B, D] and its norm's scales [T, B]
  Placed q, k;                 ///< k.out is [past + T, B, G, K]
  Tensor v, seen;              ///< [past + T, B, G, K]; attention's result [T, B, H K]
  Tensor b, b_scale;           ///< after self-attention
  Placed asked;                ///< queries to the memory
  Tensor read;                 ///< what the memory gave, [T, B, D]
  Tensor a, a_scale, gate_up;  ///< after the memory; [T, B, 2 F]
};

struct CoreTape {
  CoreSetting setting;
  CoreWeights weights;        ///< detached
  MemoryKv memory;            ///< detached
  std::int64_t position = 0;  ///< of the first token
  std::int64_t past = 0;      ///< positions of the windows in front
  bool keeps = true;          ///< for a backward pass; else buffers hold one chunk
  bool fresh = false;         ///< began with the learned first register
  std::vector<Chunk> chunks;
  Tensor e, gate_of_e;                       ///< [T, B, D]
  Tensor registers, register_scale, merged;  ///< [chunks, B, D], [chunks, B], [chunks, B, 2 D]
  std::vector<LayerTape> layers;
  Tensor out;  ///< [T, B, D]

  [[nodiscard]] std::int64_t sequences() const { return e.size(1); }
  /// Rows of a chunk in a buffer of positions.
  [[nodiscard]] Tensor part(const Tensor& buffer, const Chunk& chunk) const {
    return buffer.narrow(0, keeps ? chunk.first : 0, chunk.count);
  }
};

/// RoPE and QK-norm in the recipe's order on the heads of rows, and back.
class Placing {
 public:
  Placing(const CoreTape& tape, Tensor gains) : tape_(tape), gains_(std::move(gains)) {}

  /// `raw` points at a row's first head; rows are `stride` numbers apart. `out` and what is kept
  /// are the chunk's parts.
  void forward(const float* raw, std::int64_t stride, const Chunk& chunk, const Placed& to) const;
  /// d raw from d out, which is used up. `sums` gathers d gains.
  void backward(const Tensor& d_out, const Placed& kept, const Chunk& chunk, float* d_raw,
                std::int64_t stride, const Tensor& sums) const;

 private:
  void turn(const float* from, std::int64_t from_stride, float* to, std::int64_t to_stride,
            const Tensor& like, const Chunk& chunk, bool back) const;

  const CoreTape& tape_;
  Tensor gains_;
};

/// What attention in the window and to the memory reads for a chunk.
QueryBlock window_queries(const CoreTape& tape, const Chunk& chunk);
KeyValues window_keys(const CoreTape& tape, const LayerTape& layer);
QueryBlock memory_queries(const CoreTape& tape, const Chunk& chunk);
KeyValues memory_keys(const CoreTape& tape);

/// Runs the core; fills the tape and moves `state` on.
void run_forward(CoreTape& tape, DecoderState& state);

/// Gradients of all that the core read.
struct CoreSlopes {
  Tensor e, gate_of_e;  ///< [T, B, D]
  MemoryKv memory;
  CoreWeights weights;
};

CoreSlopes run_backward(const CoreTape& tape, const Tensor& d_out_TBD);

/// x as rows [N, width].
inline Tensor rows_of(const Tensor& x) { return x.reshape({-1, x.size(-1)}); }

/// A weight as products take it.
inline const Tensor& factor_of(const Weight& weight) {
  return weight.factor.defined() ? weight.factor : weight.value;
}

}  // namespace rondo
