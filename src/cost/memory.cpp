// Memory of a training step, term by term.
#include "cost/memory.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cost/flops.h"
#include "cost/groups.h"

namespace rondo {
namespace {

constexpr double kBytes = 4.0;  // of an fp32 value; an upper bound for bf16
// Freed blocks that the arena keeps and cannot use again for something larger, and what is too
// small for a term of its own: measured (docs/LOG.md).
constexpr double kSlack = 0.08;

// What the engine works on at once: tokens of a loss (model/looped_lm), rows of a backward pass and
// logits (tensor/fused_products).
constexpr double kLossTokens = 512, kBackwardRows = 2048, kLogits = 1 << 19;

/// Values per token that one loop keeps besides its blocks. The injection's output and the state
/// are inputs of the next norm and counted there.
double loop_extra(const ModelConfig& model) {
  const auto width = static_cast<double>(model.d_model);
  double values = 0;
  // The state that the product reads or that is scaled; e's part is computed once.
  const bool looks_back = model.history != HistoryForm::kNone;
  const bool gated = model.timestep == TimestepForm::kLoopGate;
  if (model.injection == Injection::kDense || model.injection == Injection::kChannel ||
      model.injection == Injection::kResidualChannel || looks_back || gated)
    values += width;
  // A dense history keeps the differences that it multiplies; gates keep what they multiply.
  if (model.history == HistoryForm::kDense)
    values += static_cast<double>(model.history_window) * width;
  if (gated) values += width;
  if (model.timestep == TimestepForm::kBranchGate || model.timestep == TimestepForm::kAdaln)
    values += 2 * static_cast<double>(model.core_layers) * width;
  if (model.loop_norm) values += width + 1;
  return values;
}

/// Values alive while one block is differentiated: gradients of the stream and of e, and what a
/// branch needs beside what it kept. Fused, the gradients of the feed-forward part and of the joint
/// product of q, k and v take the places of what they belong to.
double block_scratch(const Config& config, double tokens) {
  const auto& model = config.model;
  const auto queries = static_cast<double>(model.heads * model.head_dim);
  const auto keys = static_cast<double>(model.kv_heads * model.head_dim);
  const auto width = static_cast<double>(model.d_model), inner = static_cast<double>(model.d_ff);
  if (!config.engine.fused)
    return tokens * (3 * width + std::max(4 * inner, 2 * queries + 2 * keys));
  // When attention's turn comes, what the feed-forward part kept is gone.
  return tokens * (2 * width + std::max(0.0, queries - 2 * inner)) +
         std::min(tokens, kBackwardRows) * 2 * inner;
}

double slack_of(const ActivationBytes& bytes) {
  return std::floor(kSlack * (bytes.once + bytes.loops + std::max(bytes.head, bytes.scratch)));
}

/// nn/block's packed weights and what is passed back to the blocks' own.
double packed_bytes(const ModelConfig& model, std::int64_t vocab) {
  return 2 * kBytes * static_cast<double>(count_parameters(model, vocab).non_embedding());
}

/// Tokens whose logits are there at once. Fused, the loss takes as many as make half a million
/// logits.
double head_chunk(const Config& config, double tokens, double vocab, const MemoryOptions& options) {
  if (options.head_chunk_tokens > 0)
    return std::min(tokens, static_cast<double>(options.head_chunk_tokens));
  return config.engine.fused ? std::min(tokens, std::max(16.0, std::floor(kLogits / vocab)))
                             : tokens;
}

}  // namespace

BlockActivations block_activations(const ModelConfig& model, std::int64_t length, bool fused) {
  const auto width = static_cast<double>(model.d_model);
  const auto heads = static_cast<double>(model.heads);
  const auto kv_heads = static_cast<double>(model.kv_heads);
  const auto head_dim = static_cast<double>(model.head_dim);
  BlockActivations values;
  values.residuals = 2 * width;
  // Fused, the normed rows, the product of gate and up, and the heads out of the joint product of
  // q, k and v are computed again on the way back.
  if (!fused) values.norms = 4 * width + 2;
  if (model.qk_norm != QkNorm::kNone)
    values.qk_norm = (heads + kv_heads) * (fused ? 1 : head_dim + 1);
  const double joint = (heads + 2 * kv_heads) * head_dim;
  values.attention = joint + heads * head_dim + 2 * heads;
  values.mlp = 2 * static_cast<double>(model.d_ff);
  if (!fused) {
    values.attention += joint;
    values.scores = heads * static_cast<double>(length);
    values.mlp *= 2;
  }
  return values;
}

double decoder_block_activations(const Config& config) {
  const auto& model = config.model;
  const auto width = static_cast<double>(model.d_model);
  const auto length = static_cast<double>(config.data.sequence_length);
  const auto heads = static_cast<double>(model.heads);
  const double chunk = model.feedback_interval == 0
                           ? length
                           : std::min(length, static_cast<double>(model.feedback_interval));
  const double keys = std::min(length, static_cast<double>(model.window) - 1 + chunk);
  const double kv_width = static_cast<double>(model.kv_heads * model.head_dim);
  // Input of the three norms; queries and output of both attentions; keys and values joined.
  double values = 3 * width + 4 * width + 2 * heads + 2 * kv_width * (keys / chunk);
  if (model.qk_norm != QkNorm::kNone) values += 2 * (width + heads) + kv_width;
  values += 2 * static_cast<double>(model.d_ff);
  if (config.engine.fused) return values;
  // Composed: norms, SwiGLU and the scores of both attentions are kept as well.
  return values + 6 * width + 2 * static_cast<double>(model.d_ff) + 2 * heads * (keys + length / 2);
}

namespace {

/// Tokens of a sequence whose decoder activations are there at once.
double kept_tokens(const Config& config) {
  const auto& train = config.train;
  const auto length = static_cast<double>(config.data.sequence_length);
  const auto cuts = [&](BpttPart part) {
    return std::find(train.bptt_detach.begin(), train.bptt_detach.end(), part) !=
           train.bptt_detach.end();
  };
  const bool segments = train.bptt_tokens > 0 && cuts(BpttPart::kState) && cuts(BpttPart::kKv);
  return segments ? std::min(length, static_cast<double>(train.bptt_tokens)) : length;
}

/// activation_bytes of an RLT.
ActivationBytes rlt_activation_bytes(const Config& config, std::int64_t vocab,
                                     const MemoryOptions& options) {
  const auto& model = config.model;
  const auto rows = static_cast<double>(options.micro_batch);
  const double tokens = rows * static_cast<double>(config.data.sequence_length);
  const double recurrent = rows * kept_tokens(config);
  const auto width = static_cast<double>(model.d_model);
  const bool memory = model.decoder_layers > 0, merge = model.feedback_interval != 0;
  const double chunk = head_chunk(config, recurrent, static_cast<double>(vocab), options);
  ActivationBytes bytes;
  bytes.tokens = tokens * 2 * 8;
  // e; keys, values and normed input of the memory; with truncation the gradients of e, keys and
  // values, gathered over the segments.
  const double gathered = recurrent < tokens ? (memory ? 3 : 1) : 0;
  bytes.once =
      tokens * kBytes *
      (static_cast<double>(model.encoder_layers) *
           block_activations(model, config.data.sequence_length, config.engine.fused).total() +
       ((memory ? 5 : 1) + gathered) * width);
  // Of the merge: e's part of the gate, the gate and what it multiplies; input and output of the
  // final norm.
  bytes.loops = recurrent * kBytes *
                (static_cast<double>(model.decoder_layers) * decoder_block_activations(config) +
                 (merge ? 6 : 0) * width + 2 * width);
  bytes.head = kBytes * (chunk * (config.engine.fused ? 1 : 3) * static_cast<double>(vocab) +
                         recurrent * width);
  // The gradient of the whole memory, that of one more token, and their sum.
  bytes.scratch =
      kBytes * block_scratch(config, recurrent) + (memory ? 6 : 0) * tokens * kBytes * width;
  bytes.packed = packed_bytes(model, vocab);
  bytes.slack = slack_of(bytes);
  return bytes;
}

}  // namespace

ActivationBytes activation_bytes(const Config& config, std::int64_t vocab,
                                 const MemoryOptions& options) {
  const auto& model = config.model;
  if (model.kind == ModelKind::kRlt) return rlt_activation_bytes(config, vocab, options);
  const auto length = static_cast<double>(config.data.sequence_length);
  const double tokens = static_cast<double>(options.micro_batch) * length;
  const auto width = static_cast<double>(model.d_model);
  const double block =
      block_activations(model, config.data.sequence_length, config.engine.fused).total();
  const double loop = static_cast<double>(model.core_layers) * block + loop_extra(model);
  const double kept = largest_loops(config.loops).backward;
  const double chunk = head_chunk(config, tokens, static_cast<double>(vocab), options);
  ActivationBytes bytes;
  bytes.tokens = tokens * 2 * 8;
  // Fused, coda and head take some sequences at a time (model/looped_lm), else every read-out has
  // its own coda; e, and input and output of the final norm, belong to no block.
  const double read = read_outs(config.train, largest_loops(config.loops));
  const double behind =
      config.engine.fused ? std::min(tokens, std::max(kLossTokens, length)) : read * tokens;
  bytes.once = kBytes * ((static_cast<double>(model.prelude_layers) * block + width) * tokens +
                         (static_cast<double>(model.coda_layers) * block + 2 * width) * behind);
  bytes.loops = tokens * kBytes * (config.loops.recompute ? kept * width + loop : kept * loop);
  // Logits, composed also their log-softmax and gradient; the last state and its gradient; the
  // gradient of the head's weights, of this part and of those before.
  bytes.head = kBytes * (chunk * (config.engine.fused ? 1 : 3) * static_cast<double>(vocab) +
                         (1 + read) * tokens * width + 2 * width * static_cast<double>(vocab));
  bytes.scratch = kBytes * block_scratch(config, tokens);
  bytes.packed = packed_bytes(model, vocab);
  bytes.slack = slack_of(bytes);
  return bytes;
}

double kv_cache_bytes_per_token(const ModelConfig& model, double loops) {
  if (model.kind == ModelKind::kRlt)
    return 2.0 * kBytes *
           (static_cast<double>(model.encoder_layers * model.kv_heads * model.head_dim) +
            (model.decoder_layers > 0 ? static_cast<double>(model.d_model) : 0.0));
  const double layers = static_cast<double>(model.prelude_layers + model.coda_layers) +
                        static_cast<double>(model.core_layers) * loops;
  return layers * 2.0 * static_cast<double>(model.kv_heads * model.head_dim) * kBytes;
}

MemoryBytes memory_bytes(const Config& config, std::int64_t vocab, const MemoryOptions& options) {
  const auto parameters = static_cast<double>(count_parameters(config.model, vocab).total);
  MemoryBytes bytes;
  bytes.weights = kBytes * parameters;
  bytes.gradients = kBytes * parameters;
  bytes.optimizer = kBytes * optimizer_values(config, vocab);
  bytes.activations = activation_bytes(config, vocab, options).total();
  bytes.kv_cache_per_token =
      kv_cache_bytes_per_token(config.model, static_cast<double>(config.loops.forward));
  return bytes;
}

std::int64_t largest_micro_batch(const Config& config, std::int64_t vocab, double budget_bytes,
                                 std::int64_t head_chunk_tokens) {
  const std::int64_t batch = config.train.batch;
  std::int64_t best = 0;
  const auto consider = [&](std::int64_t size) {
    if (size > best &&
        memory_bytes(config, vocab, {size, head_chunk_tokens}).total() <= budget_bytes)
      best = size;
  };
  for (std::int64_t divisor = 1; divisor * divisor <= batch; ++divisor) {
    if (batch % divisor != 0) continue;
    consider(divisor);
    consider(batch / divisor);
  }
  return best;
}

}  // namespace rondo
