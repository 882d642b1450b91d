// The rule that sorts tensors into optimiser groups.
#include "cost/groups.h"

#include <fmt/format.h>

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

/// Words for the matrices of a model that AdamW moves.
std::string matrices_text(const ModelConfig& model, bool muon) {
  const bool rlt = model.kind == ModelKind::kRlt;
  const bool inject = !rlt && model.injection == Injection::kDense;
  const bool history = !rlt && model.history == HistoryForm::kDense;
  if (!muon) return with("hidden matrices", {{inject, "inject.weight"}, {history, "history.*"}});
  const bool merge = rlt && model.feedback_interval != 0;
  const auto text =
      with("", {{inject, "inject.weight"}, {history, "history.*"}, {merge, "merge.*.weight"}});
  return text.empty() ? "none" : text.substr(2);
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

std::size_t optimizer_group_of(const TensorShape& tensor, OptimizerKind optimizer) {
  const bool muon = optimizer == OptimizerKind::kMuon;
  if (muon && tensor.is_block_matrix()) return 0;
  const auto group = tensor.is_hidden_matrix()                    ? kMatrices
                     : tensor.group == ParameterGroup::kEmbedding ? kEmbeddings
                                                                  : kVectors;
  return muon ? group + 1 : group;
}

std::vector<OptimizerGroup> optimizer_groups(const Config& config, std::int64_t vocab) {
  const auto& train = config.train;
  // Decay pulls towards 0, which is not where a gain or an injection of channels should rest. The
  // factors of histories and timesteps go with them: 0 is where they start, but they are few.
  const bool muon = train.optimizer == OptimizerKind::kMuon;
  const std::string adamw(word(OptimizerKind::kAdamw));
  std::vector<OptimizerGroup> groups = {
      {"matrices", matrices_text(config.model, muon), adamw, train.weight_decay,
       train.matrix_lr_scale},
      {"embeddings", "embedding and head", adamw, train.weight_decay, 1.0},
      {"vectors", vectors_text(config.model), adamw, 0.0, 1.0}};
  if (muon)
    groups.insert(groups.begin(), {"muon", "attention and feed-forward matrices",
                                   fmt::format("muon ({})", word(train.muon_scale)),
                                   train.weight_decay, train.matrix_lr_scale});
  for (const auto& tensor : parameter_shapes(config.model, vocab)) {
    auto& group = groups[optimizer_group_of(tensor, train.optimizer)];
    ++group.tensor_count;
    group.parameters += tensor.count();
  }
  return groups;
}

double optimizer_values(const Config& config, std::int64_t vocab) {
  double values = 0;
  for (const auto& group : optimizer_groups(config, vocab))
    values += static_cast<double>(group.parameters) * (group.name == "muon" ? 1 : 2);
  return values;
}

}  // namespace rondo
