// What the fused recurrent core writes down on its way forward and reads on its way back: plain
// buffers of rows, positions first, so that one token of all sequences is one block of rows. N is
// the number of all rows, B of sequences.
#pragma once

#include "base/position_rows.h"
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
  Tensor in, scale;  ///< [N, H, K], [N, H]; only with QK-norm
  Tensor out;        ///< [N, H, K]
};

/// One decoder layer. Keys and values have the window's past positions in front.
struct LayerTape {
  Tensor z, z_scale;           ///< input [N, D] and its norm's scales [N]
  Placed q, k;                 ///< k.out is [past B + N, G, K]
  Tensor v, seen;              ///< [past B + N, G, K]; attention's result [N, H K]
  Tensor seen_softmax;         ///< rows of its softmax [N, H, 2]
  Tensor b, b_scale;           ///< after self-attention
  Placed asked;                ///< queries to the memory
  Tensor read, read_softmax;   ///< what the memory gave, [N, D], [N, H, 2]
  Tensor a, a_scale, gate_up;  ///< after the memory; [N, 2 F]
};

struct CoreTape {
  CoreSetting setting;
  CoreWeights weights;        ///< detached
  MemoryKv memory;            ///< detached
  std::int64_t position = 0;  ///< of the first token
  std::int64_t past = 0;      ///< positions of the windows in front
  bool keeps = true;          ///< for a backward pass; else buffers hold one chunk
  bool fresh = false;         ///< began with the learned first register
  PositionRows rows;
  Tensor order;  ///< of rows among sequences one after the other; undefined where all are alike
  std::vector<std::int64_t> places;        ///< position of every row, counted from 0
  KeyPlaces window_places, memory_places;  ///< of a layer's keys and of the memory's
  std::vector<Chunk> chunks;
  std::vector<std::int64_t> register_rows;   ///< [chunks + 1]: where a chunk's register begins
  Tensor e, gate_of_e;                       ///< [N, D]
  Tensor registers, register_scale, merged;  ///< rows of registers: [., D], [.], [., 2 D]
  std::vector<LayerTape> layers;
  Tensor out;  ///< [N, D]

  /// Sequences that a chunk begins with.
  [[nodiscard]] std::int64_t sequences(const Chunk& chunk) const { return rows.at(chunk.first); }
  [[nodiscard]] std::int64_t first_row(const Chunk& chunk) const {
    return rows.before(chunk.first);
  }
  [[nodiscard]] std::int64_t row_count(const Chunk& chunk) const {
    return rows.before(chunk.first + chunk.count) - first_row(chunk);
  }
  /// Rows of a chunk in a buffer of all rows.
  [[nodiscard]] Tensor rows_of(const Tensor& buffer, const Chunk& chunk) const {
    return buffer.narrow(0, first_row(chunk), row_count(chunk));
  }
  /// The same in a buffer that holds one chunk unless the tape keeps all.
  [[nodiscard]] Tensor part(const Tensor& buffer, const Chunk& chunk) const {
    return keeps ? rows_of(buffer, chunk) : buffer.narrow(0, 0, row_count(chunk));
  }
  /// A chunk's part of registers and what came of them.
  [[nodiscard]] Tensor register_part(const Tensor& buffer, std::size_t index) const {
    return buffer.narrow(0, keeps ? register_rows[index] : 0, sequences(chunks[index]));
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
  struct Angles {
    const float *cos, *sin;
  };
  /// Of the position of a row among all.
  [[nodiscard]] Angles angles_of(std::int64_t row) const;

  const CoreTape& tape_;
  Tensor gains_;
};

/// What attention in the window and to the memory reads for a chunk.
QueryBlock window_queries(const CoreTape& tape, const Chunk& chunk);
KeyValues window_keys(const CoreTape& tape, const LayerTape& layer);
QueryBlock memory_queries(const CoreTape& tape, const Chunk& chunk);
KeyValues memory_keys(const CoreTape& tape);

/// What the softmax of queries keeps of each, from the buffer that the tape has for it.
SoftmaxRow* softmax_rows(const Tensor& buffer);

/// Runs the core; fills the tape and moves `state` on.
void run_forward(CoreTape& tape, DecoderState& state);

/// Gradients of all that the core read.
struct CoreSlopes {
  Tensor e, gate_of_e;  ///< [N, D]
  MemoryKv memory;
  CoreWeights weights;
};

CoreSlopes run_backward(const CoreTape& tape, const Tensor& d_out_ND);

/// A weight as products take it.
inline const Tensor& factor_of(const Weight& weight) {
  return weight.factor.defined() ? weight.factor : weight.value;
}

}  // namespace rondo
