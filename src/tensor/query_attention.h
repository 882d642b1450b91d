// Attention of single positions: each query reads the keys up to its own. For models that go token
// by token, where a block of queries is too small for products of matrices.
#pragma once

#include "tensor/tensor.h"

namespace rondo {

/// Where keys or values lie: numbers between neighbouring positions, sequences and heads.
struct KeyLayout {
  std::int64_t position, sequence, head;
};

/// Queries of some positions of all sequences, [tokens, B, H, K] row by row.
struct QueryBlock {
  std::int64_t tokens, sequences, heads, groups, width;
  std::int64_t first;   ///< place of the first query's own key among the keys
  std::int64_t window;  ///< keys that a query sees, its own included; 0 = all up to its own
};

/// Keys and values [positions, sequences, groups, K] in any layout; K lies side by side.
struct KeyValues {
  const float *k, *v;
  KeyLayout k_layout, v_layout;
};

/// Softmax attention, scores scaled by 1/√K; into `out`, laid out as the queries.
void attend_queries(const QueryBlock& block, const float* q, const KeyValues& keys, float* out);

/// Its gradients: into d_q, added to d_k and d_v, which are laid out as k and v. Computes the
/// probabilities again.
void attend_queries_backward(const QueryBlock& block, const float* q, const KeyValues& keys,
                             const float* d_out, float* d_q, float* d_k, float* d_v);

}  // namespace rondo
