// Attention of single positions: each query reads the keys up to its own. For models that go token
// by token, where a block of queries is too small for products of matrices.
#pragma once

#include <vector>

#include "base/position_rows.h"
#include "tensor/kernels.h"
#include "tensor/tensor.h"

namespace rondo {

/// Where keys and values lie: numbers from the first to those of each position, sequence and head,
/// which add up.
struct KeyPlaces {
  std::vector<std::int64_t> position, sequence;
  std::int64_t head = 0;
};

/// Queries of some positions, rows of [H, K].
struct QueryBlock {
  const PositionRows* rows;    ///< of all positions; the queries begin with the row of `token`
  std::int64_t token, tokens;  ///< the first position and how many
  std::int64_t heads, groups, width;
  std::int64_t first;   ///< place of the first query's own key among the keys
  std::int64_t window;  ///< keys that a query sees, its own included; 0 = all up to its own
};

/// Keys and values, alike in layout; a head's numbers lie side by side.
struct KeyValues {
  const float *k, *v;
  const KeyPlaces* places;
};

/// Softmax attention, scores scaled by 1/√K; into `out`, laid out as the queries. `softmax` gets
/// what it takes to do it again, rows of [H].
void attend_queries(const QueryBlock& block, const float* q, const KeyValues& keys, float* out,
                    SoftmaxRow* softmax);

/// Its gradients: into d_q, added to d_k and d_v, which are laid out as k and v. Computes the
/// probabilities again.
void attend_queries_backward(const QueryBlock& block, const float* q, const KeyValues& keys,
                             const SoftmaxRow* softmax, const float* d_out, float* d_q, float* d_k,
                             float* d_v);

}  // namespace rondo
