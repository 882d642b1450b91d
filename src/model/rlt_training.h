// Back-propagation through time for an RLT, whole or cut after so many tokens.
#pragma once

#include <functional>

#include "model/rlt.h"

namespace rondo {

/// Where the gradient through time ends, and which of its ways end there.
struct Truncation {
  std::int64_t tokens = 0;  ///< of a segment; 0 or at least the sequence = nothing is cut
  bool state = true;        ///< the register
  bool kv = true;           ///< the decoder's keys and values of the last positions
  bool memory = false;      ///< the memory of earlier segments
};

/// The recipe's.
Truncation truncation_of(const TrainConfig& train);

/// Whether sequences of that length are cut at all.
bool is_cut(const Truncation& truncation, std::int64_t length);

/// The loss (a scalar) of states [B, n, D] that begin at position `first` of their sequences.
using StateLoss = std::function<Tensor(const Tensor& state_BSD, std::int64_t first)>;

/// Forward and backward pass, of rows without truncation: adds the gradients of Σ losses to the
/// weights' and returns the sum.
///
/// When register and keys and values are both cut, nothing but the memory leads from one segment
/// to an earlier one, so each segment is back-propagated at once and its activations go: the
/// decoder keeps those of one segment. Gradients of the encoder's output, of the memory and of the
/// packed weights are gathered and passed on once at the end; so cutting the memory too would save
/// nothing. When one of the two is not cut, activations of the whole sequence are kept.
double back_propagate(const RltPass& pass, const Truncation& truncation, const StateLoss& loss);

}  // namespace rondo
