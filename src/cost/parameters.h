// The tensors of a model by name and shape, and the counts that laws and budgets are stated in.
// Everything else in this layer derives from this one list; the model's tests compare it with the
// tensors that were really built.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"

namespace rondo {

/// Which count a tensor belongs to.
enum class ParameterGroup {
  kEmbedding,  ///< embed.weight and an untied head.weight: outside N
  kOnce,       ///< used once a token: prelude, coda, final norm; an RLT's encoder, memory (N_once)
  kRecurrent,  ///< used in every loop: core and its conditioning; an RLT's decoder, merge (N_rec)
};

/// A stored tensor.
struct TensorShape {
  std::string name;
  std::vector<std::int64_t> shape;
  ParameterGroup group;

  [[nodiscard]] std::int64_t count() const;
  /// A two-dimensional weight that is multiplied with activations: not the embedding, not the head.
  [[nodiscard]] bool is_hidden_matrix() const {
    return shape.size() == 2 && group != ParameterGroup::kEmbedding;
  }
  /// A hidden matrix of attention or feed-forward: no injection, history or merge.
  [[nodiscard]] bool is_block_matrix() const;
};

/// Numbers of parameters.
struct ParameterCounts {
  std::int64_t total = 0;
  std::int64_t embedding = 0;
  std::int64_t once = 0;
  std::int64_t recurrent = 0;
  /// The two-dimensional part of `once` and `recurrent`: N_once and N_rec of the FLOPs formula.
  std::int64_t n_once_matrices = 0;
  std::int64_t n_rec_matrices = 0;
  /// The part of `n_once_matrices` that every read-out of a looped model uses: the coda's.
  std::int64_t n_coda_matrices = 0;

  [[nodiscard]] std::int64_t non_embedding() const { return once + recurrent; }
};

/// Ids of a tokenizer ("bytes": 256). Throws an input error for one that is unknown.
std::int64_t tokenizer_size(const std::string& tokenizer);

/// Rows of the embedding: model.vocab, or the tokenizer's size when that is 0. Throws an input
/// error when model.vocab is smaller than the tokenizer needs.
std::int64_t vocabulary_size(const Config& config);

/// Every stored tensor of a resolved model, in the order of the forward pass. A tied head is not a
/// tensor of its own.
std::vector<TensorShape> parameter_shapes(const ModelConfig& model, std::int64_t vocab);

/// Counts of a resolved model.
ParameterCounts count_parameters(const ModelConfig& model, std::int64_t vocab);

}  // namespace rondo
