// The list of a model's tensors and the counts over it.
#include "cost/parameters.h"

#include "base/error.h"
#include "config/task_lengths.h"

namespace rondo {
namespace {

/// Appends tensors of one group.
struct List {
  std::vector<TensorShape>& tensors;
  ParameterGroup group;

  void add(std::string name, std::vector<std::int64_t> shape) const {
    tensors.push_back({std::move(name), std::move(shape), group});
  }
};

void add_block(const List& list, const std::string& block, const ModelConfig& m) {
  const std::int64_t queries = m.heads * m.head_dim, keys = m.kv_heads * m.head_dim;
  list.add(block + ".attn_norm.weight", {m.d_model});
  list.add(block + ".attn.q.weight", {queries, m.d_model});
  list.add(block + ".attn.k.weight", {keys, m.d_model});
  list.add(block + ".attn.v.weight", {keys, m.d_model});
  list.add(block + ".attn.o.weight", {m.d_model, queries});
  if (m.qk_norm == QkNorm::kGain) {
    list.add(block + ".attn.q_norm.weight", {m.head_dim});
    list.add(block + ".attn.k_norm.weight", {m.head_dim});
  }
  list.add(block + ".mlp_norm.weight", {m.d_model});
  list.add(block + ".mlp.gate.weight", {m.d_ff, m.d_model});
  list.add(block + ".mlp.up.weight", {m.d_ff, m.d_model});
  list.add(block + ".mlp.down.weight", {m.d_model, m.d_ff});
}

void add_blocks(const List& list, const std::string& part, std::int64_t layers,
                const ModelConfig& model) {
  for (std::int64_t i = 0; i < layers; ++i) add_block(list, fmt::format("{}.{}", part, i), model);
}

void add_injection(const List& list, const ModelConfig& model) {
  switch (model.injection) {
    case Injection::kNone:
      return;
    case Injection::kScalar:
      return list.add("inject.a", {1});
    case Injection::kChannel:
    case Injection::kResidualChannel:
      list.add("inject.a", {model.d_model});
      return list.add("inject.b", {model.d_model});
    case Injection::kDense:
      return list.add("inject.weight", {model.d_model, 2 * model.d_model});
  }
}

void add_history(const List& list, const ModelConfig& model) {
  for (std::int64_t j = 1; j <= model.history_window; ++j) {
    const auto name = fmt::format("history.{}", j);
    switch (model.history) {
      case HistoryForm::kNone:
        return;
      case HistoryForm::kScalar:
        list.add(name, {1});
        break;
      case HistoryForm::kChannel:
        list.add(name, {model.d_model});
        break;
      case HistoryForm::kDense:
        list.add(name, {model.d_model, model.d_model});
        break;
    }
  }
}

void add_timestep(const List& list, const ModelConfig& model) {
  constexpr std::int64_t kFeatures = 8;
  switch (model.timestep) {
    case TimestepForm::kNone:
      return;
    case TimestepForm::kLoopGate:
      return list.add("timestep.loop_gate", {kFeatures});
    case TimestepForm::kBranchGate:
      return list.add("timestep.branch_gate", {model.core_layers, 2, kFeatures});
    case TimestepForm::kAdaln:
      return list.add("timestep.adaln", {model.core_layers, 2, 2 * model.d_model, kFeatures});
  }
}

void add_gains(const List& list, const std::string& name, const ModelConfig& model) {
  if (model.qk_norm == QkNorm::kGain) list.add(name, {model.head_dim});
}

void add_decoder_block(const List& list, const std::string& block, const ModelConfig& m) {
  std::vector<TensorShape> own;
  add_block({own, list.group}, block, m);
  for (auto& tensor : own)
    if (!m.share_blocks || !tensor.is_hidden_matrix()) list.tensors.push_back(std::move(tensor));
  list.add(block + ".cross_norm.weight", {m.d_model});
  list.add(block + ".cross.q.weight", {m.d_model, m.d_model});
  add_gains(list, block + ".cross.q_norm.weight", m);
  list.add(block + ".cross.o.weight", {m.d_model, m.d_model});
}

void add_memory(const List& list, const ModelConfig& m) {
  if (m.decoder_layers == 0) return;
  list.add("memory.norm.weight", {m.d_model});
  list.add("memory.k.weight", {m.d_model, m.d_model});
  list.add("memory.v.weight", {m.d_model, m.d_model});
  add_gains(list, "memory.k_norm.weight", m);
}

void add_merge(const List& list, const ModelConfig& m) {
  if (m.feedback_interval == 0) return;
  list.add("merge.norm.weight", {m.d_model});
  list.add("merge.gate.weight", {m.d_model, 2 * m.d_model});
  list.add("merge.gate.bias", {m.d_model});
  list.add("merge.state.weight", {m.d_model, m.d_model});
  list.add("merge.initial", {m.d_model});
}

}  // namespace

std::int64_t TensorShape::count() const {
  std::int64_t product = 1;
  for (const std::int64_t size : shape)
    require(!__builtin_mul_overflow(product, size, &product),
            "{}: more parameters than a 64-bit number counts; make the model smaller", name);
  return product;
}

bool TensorShape::is_block_matrix() const {
  return is_hidden_matrix() && !name.starts_with("inject.") && !name.starts_with("history.") &&
         !name.starts_with("merge.");
}

std::int64_t tokenizer_size(const std::string& tokenizer) {
  require(tokenizer == "bytes",
          "data.tokenizer = \"{}\": not available in this version; expected \"bytes\"", tokenizer);
  return 256;
}

std::int64_t vocabulary_size(const Config& config) {
  const bool task = config.data.source == DataSource::kTask;
  const std::int64_t ids = task ? kTaskIds : tokenizer_size(config.data.tokenizer);
  if (config.model.vocab == 0) return ids;
  require(
      config.model.vocab >= ids,
      "model.vocab = {}: smaller than the {} ids of {}; expected 0 or at least {}",
      config.model.vocab, ids,
      task ? std::string("tasks") : fmt::format("data.tokenizer = \"{}\"", config.data.tokenizer),
      ids);
  return config.model.vocab;
}

std::vector<TensorShape> parameter_shapes(const ModelConfig& model, std::int64_t vocab) {
  std::vector<TensorShape> tensors;
  const List embedding{tensors, ParameterGroup::kEmbedding}, once{tensors, ParameterGroup::kOnce},
      recurrent{tensors, ParameterGroup::kRecurrent};
  embedding.add("embed.weight", {vocab, model.d_model});
  if (model.kind == ModelKind::kRlt) {
    add_blocks(once, "encoder", model.encoder_layers, model);
    add_memory(once, model);
    add_merge(recurrent, model);
    for (std::int64_t i = 0; i < model.decoder_layers; ++i)
      add_decoder_block(recurrent, fmt::format("decoder.{}", i), model);
  } else {
    add_blocks(once, "prelude", model.prelude_layers, model);
    add_injection(recurrent, model);
    add_history(recurrent, model);
    add_timestep(recurrent, model);
    add_blocks(recurrent, "core", model.core_layers, model);
    if (model.loop_norm) recurrent.add("loop_norm.weight", {model.d_model});
    add_blocks(once, "coda", model.coda_layers, model);
  }
  once.add("final_norm.weight", {model.d_model});
  if (!model.tied_head) embedding.add("head.weight", {vocab, model.d_model});
  return tensors;
}

ParameterCounts count_parameters(const ModelConfig& model, std::int64_t vocab) {
  ParameterCounts counts;
  for (const auto& tensor : parameter_shapes(model, vocab)) {
    const std::int64_t count = tensor.count();
    require(!__builtin_add_overflow(counts.total, count, &counts.total),
            "the model has more parameters than a 64-bit number counts; make it smaller");
    const bool once = tensor.group == ParameterGroup::kOnce;
    if (tensor.group == ParameterGroup::kEmbedding) {
      counts.embedding += count;
    } else {
      (once ? counts.once : counts.recurrent) += count;
    }
    if (!tensor.is_hidden_matrix()) continue;
    (once ? counts.n_once_matrices : counts.n_rec_matrices) += count;
    if (tensor.name.starts_with("coda.")) counts.n_coda_matrices += count;
  }
  return counts;
}

}  // namespace rondo
