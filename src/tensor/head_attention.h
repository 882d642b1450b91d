// Causal softmax attention of one head of one sequence on the calling thread: on blocks of queries
// by products of matrices, or in loops of our own where the sequence is too short for them.
#pragma once

#include "tensor/gemm.h"
#include "tensor/kernels.h"

namespace rondo::fused {

/// One head of one sequence: rows are positions, `down` numbers apart.
struct Head {
  float* data;
  std::int64_t down, width;

  [[nodiscard]] float* row(std::int64_t position) const { return data + position * down; }
  [[nodiscard]] MatrixView rows(std::int64_t begin, std::int64_t count) const {
    return {row(begin), count, width, down, 1};
  }
};

/// What attention reads.
struct HeadInput {
  Head q, k, v;
  std::int64_t length;
};

/// Attention of a head into `out`; `rows` gets what each position's softmax needs to be done again.
/// Inside a parallel region, under OneThread.
void attend_head(const HeadInput& in, const Head& out, SoftmaxRow* rows);

/// Where the gradients of a head go.
struct HeadSlopes {
  Head q, k, v;
  bool adds;  ///< to k and v, which another head has begun
};

/// From d_out to the gradients of what was read. Those of q and k lie as these do; none may take
/// the place of what is read.
void attend_head_backward(const HeadInput& in, const SoftmaxRow* rows, const Head& d_out,
                          const HeadSlopes& slopes);

/// The n-th scratch, for at least so many numbers, of the calling thread; it outlives the call,
/// since fresh pages cost more than what is computed in them. 0 and 1 are those of the functions
/// above.
float* head_scratch(std::size_t n, std::int64_t numbers);

}  // namespace rondo::fused
