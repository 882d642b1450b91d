// Which tensors are decayed and how their learning rate is scaled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cost/parameters.h"

namespace rondo {

/// Tensors that the optimiser treats alike.
struct OptimizerGroup {
  std::string name;       ///< "muon", "matrices", "embeddings" or "vectors"
  std::string tensors;    ///< for people
  std::string optimizer;  ///< "adamw", or "muon" with its scale
  double weight_decay;
  double lr_scale;
  std::int64_t tensor_count = 0;
  std::int64_t parameters = 0;
};

/// Index of a tensor's group in what `optimizer_groups` returns. Hidden matrices take
/// train.matrix_lr_scale and the decay; embedding and head the decay; everything one-dimensional
/// (norm gains, scalar and channel injections and histories, bias and first state of a merge) and
/// the weights of a timestep's features neither. With Muon the matrices of attention and
/// feed-forward are a group before these.
std::size_t optimizer_group_of(const TensorShape& tensor, OptimizerKind optimizer);

/// The three groups, four with Muon, with what they hold; a group may be empty.
std::vector<OptimizerGroup> optimizer_groups(const Config& config, std::int64_t vocab);

/// Values that the optimiser keeps: Muon one a parameter, AdamW two.
double optimizer_values(const Config& config, std::int64_t vocab);

}  // namespace rondo
