// The rule that sorts tensors into optimiser groups.
#include "cost/groups.h"

namespace rondo {
namespace {
enum : std::size_t { kMatrices, kEmbeddings, kVectors };
}

std::size_t optimizer_group_of(const TensorShape& tensor) {
  if (tensor.is_hidden_matrix()) return kMatrices;
  return tensor.group == ParameterGroup::kEmbedding ? kEmbeddings : kVectors;
}

std::vector<OptimizerGroup> optimizer_groups(const Config& config, std::int64_t vocab) {
  const auto& train = config.train;
  // Decay pulls towards 0, which is not where a gain or an injection of channels should rest.
  std::vector<OptimizerGroup> groups = {
      {"matrices", "hidden matrices", train.weight_decay, train.matrix_lr_scale},
      {"embeddings", "embedding and head", train.weight_decay, 1.0},
      {"vectors",
       config.model.kind == ModelKind::kRlt ? "norm gains, gate bias, first state"
                                            : "norm gains, scalar and channel injection",
       0.0, 1.0}};
  for (const auto& tensor : parameter_shapes(config.model, vocab)) {
    auto& group = groups[optimizer_group_of(tensor)];
    ++group.tensor_count;
    group.parameters += tensor.count();
  }
  return groups;
}

}  // namespace rondo
