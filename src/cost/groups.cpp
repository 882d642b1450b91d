// The rule that sorts tensors into optimiser groups.
#include "cost/groups.h"

#include <utility>

namespace rondo {
namespace {

enum : std::size_t { kMatrices, kEmbeddings, kVectors };

/// `text` and those of `more` that are there, with commas.
std::string with(std::string text, const std::vector<std::pair<bool, const char*>>& more) {
  for (const auto& [present, words] : more)
    if (present) text += std::string(", ") + words;
  return text;
}

/// Words for the matrices of a model.
std::string matrices_text(const ModelConfig& model) {
  return with("hidden matrices", {{model.injection == Injection::kDense, "inject.weight"},
                                  {model.history == HistoryForm::kDense, "history.*"}});
}

/// Words for its vectors.
std::string vectors_text(const ModelConfig& model) {
  if (model.kind == ModelKind::kRlt) return "norm gains, gate bias, first state";
  const bool factors = model.injection != Injection::kNone && model.injection != Injection::kDense;
  const bool history = model.history != HistoryForm::kNone && model.history != HistoryForm::kDense;
  return with("norm gains", {{factors, "inject.*"},
                             {history, "history.*"},
                             {model.timestep != TimestepForm::kNone, "timestep.*"}});
}

}  // namespace

std::size_t optimizer_group_of(const TensorShape& tensor) {
  if (tensor.is_hidden_matrix()) return kMatrices;
  return tensor.group == ParameterGroup::kEmbedding ? kEmbeddings : kVectors;
}

std::vector<OptimizerGroup> optimizer_groups(const Config& config, std::int64_t vocab) {
  const auto& train = config.train;
  // Decay pulls towards 0, which is not where a gain or an injection of channels should rest. The
  // factors of histories and timesteps go with them: 0 is where they start, but they are few.
  std::vector<OptimizerGroup> groups = {
      {"matrices",
       config.model.kind == ModelKind::kRlt ? "hidden matrices" : matrices_text(config.model),
       train.weight_decay, train.matrix_lr_scale},
      {"embeddings", "embedding and head", train.weight_decay, 1.0},
      {"vectors", vectors_text(config.model), 0.0, 1.0}};
  for (const auto& tensor : parameter_shapes(config.model, vocab)) {
    auto& group = groups[optimizer_group_of(tensor)];
    ++group.tensor_count;
    group.parameters += tensor.count();
  }
  return groups;
}

}  // namespace rondo
