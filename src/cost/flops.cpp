// The FLOPs formulas, and the same with numbers filled in.
#include "cost/flops.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace rondo {
namespace {

/// Forward attention FLOPs of one layer per token: scores and weighted values over the (S + 1) / 2
/// positions that a causal token sees on average.
double layer_attention(const ModelConfig& model, std::int64_t length) {
  return 4.0 * static_cast<double>(model.heads * model.head_dim) *
         (static_cast<double>(length) + 1.0) / 2.0;
}

/// Positions that a token sees on average through a window: the mean of min(W, t) over t = 1 … S.
double mean_window(const ModelConfig& model, std::int64_t length) {
  const auto s = static_cast<double>(length);
  const auto w = std::min(static_cast<double>(model.window), s);
  return (w * (w + 1) / 2 + (s - w) * w) / s;
}

/// Forward attention FLOPs per token of the layers outside and inside the loop, and of the part of
/// the former that a read-out repeats.
struct AttentionFlops {
  double once, recurrent, coda = 0;
};

AttentionFlops attention_flops(const ModelConfig& model, std::int64_t length) {
  const double all = layer_attention(model, length);
  if (model.kind == ModelKind::kLooped)
    return {all * static_cast<double>(model.prelude_layers + model.coda_layers),
            all * static_cast<double>(model.core_layers),
            all * static_cast<double>(model.coda_layers)};
  const double window =
      4.0 * static_cast<double>(model.heads * model.head_dim) * mean_window(model, length);
  return {all * static_cast<double>(model.encoder_layers),
          (window + all) * static_cast<double>(model.decoder_layers)};
}

/// The table of flops_formula for an RLT.
std::string rlt_formula(const Config& config, const FlopsPerToken& flops) {
  const auto& model = config.model;
  const std::int64_t vocab = vocabulary_size(config), width = model.heads * model.head_dim;
  const auto counts = count_parameters(model, vocab);
  const auto length = config.data.sequence_length;
  const auto seen =
      fmt::format("4 · {} · ({} · {}/2 + {} ({:.6g} + {}/2))", width, model.encoder_layers,
                  length + 1, model.decoder_layers, mean_window(model, length), length + 1);
  TextTable table({"train_matmul", si(flops.train_matmul), "= 6 (N_once + N_rec)"});
  const auto add = [&table](std::string name, std::string value, const std::string& formula) {
    table.add({std::move(name), std::move(value), fmt::format("= {}", formula)});
  };
  add("", "", fmt::format("6 ({} + {})", counts.n_once_matrices, counts.n_rec_matrices));
  add("train_attention", si(flops.train_attention),
      "3 · 4 H K (L_E (S + 1)/2 + L_D (w + (S + 1)/2)), w = mean of min(W, t) over t = 1 … S");
  add("", "", "3 · " + seen);
  add("train_head", si(flops.train_head), fmt::format("6 V D = 6 · {} · {}", vocab, model.d_model));
  add("train", si(flops.train), "train_matmul + train_attention + train_head");
  add("forward", si(flops.forward), "train / 3");
  return table.aligned();
}

}  // namespace

double train_matmul_flops(double n_once, double n_rec, LoopCount loops) {
  return 6.0 * n_once + 2.0 * (loops.forward + 2.0 * loops.backward) * n_rec;
}

double read_outs(const TrainConfig& train, LoopCount loops) {
  return train.loop_loss == LoopLoss::kLast ? 1 : loops.backward;
}

double train_matmul_flops(const ParameterCounts& counts, LoopCount loops, double read_outs) {
  return train_matmul_flops(static_cast<double>(counts.n_once_matrices),
                            static_cast<double>(counts.n_rec_matrices), loops) +
         6.0 * (read_outs - 1) * static_cast<double>(counts.n_coda_matrices);
}

FlopsPerToken flops_per_token(const ModelConfig& model, std::int64_t vocab, std::int64_t length,
                              LoopCount loops, double read_outs) {
  const auto counts = count_parameters(model, vocab);
  const auto n_once = static_cast<double>(counts.n_once_matrices);
  const auto n_rec = static_cast<double>(counts.n_rec_matrices);
  const auto attention = attention_flops(model, length);
  const double head = 2.0 * static_cast<double>(vocab) * static_cast<double>(model.d_model);

  FlopsPerToken flops;
  flops.forward = 2.0 * (n_once + loops.forward * n_rec) + attention.once +
                  loops.forward * attention.recurrent + head;
  flops.train_matmul = train_matmul_flops(counts, loops, read_outs);
  flops.train_attention = 3.0 * (attention.once + (read_outs - 1) * attention.coda) +
                          (loops.forward + 2.0 * loops.backward) * attention.recurrent;
  flops.train_head = 3.0 * read_outs * head;
  flops.train = flops.train_matmul + flops.train_attention + flops.train_head;
  return flops;
}

FlopsPerToken flops_per_token(const Config& config, LoopCount loops) {
  return flops_per_token(config.model, vocabulary_size(config), config.data.sequence_length, loops,
                         read_outs(config.train, loops));
}

FlopsPerToken flops_per_token(const Config& config) {
  return flops_per_token(config, nominal_loops(config.loops));
}

FlopsPerToken expected_flops_per_token(const Config& config) {
  return flops_per_token(config, expected_loops(config.loops, config.train.steps));
}

std::string flops_formula(const Config& config) {
  const auto& model = config.model;
  const std::int64_t vocab = vocabulary_size(config);
  const auto counts = count_parameters(model, vocab);
  const auto flops = flops_per_token(config);
  if (model.kind == ModelKind::kRlt) return rlt_formula(config, flops);
  const auto loops = nominal_loops(config.loops);
  const auto t = static_cast<std::int64_t>(loops.forward);
  const auto b = static_cast<std::int64_t>(loops.backward);
  const std::int64_t width = model.heads * model.head_dim, length = config.data.sequence_length;
  const auto read = static_cast<std::int64_t>(read_outs(config.train, loops));
  const std::int64_t once_layers = model.prelude_layers + model.coda_layers;
  // With R = B read-outs the coda counts R times.
  const bool all = config.train.loop_loss != LoopLoss::kLast;
  const std::int64_t once = counts.n_once_matrices + (read - 1) * counts.n_coda_matrices;

  TextTable table(
      {"train_matmul", si(flops.train_matmul),
       all ? "= 6 (N_once + (B - 1) N_coda) + 2 (T + 2B) N_rec" : "= 6 N_once + 2 (T + 2B) N_rec"});
  const auto add = [&table](std::string name, std::string value, const std::string& formula) {
    table.add({std::move(name), std::move(value), fmt::format("= {}", formula)});
  };
  add("", "", fmt::format("6 · {} + 2 ({} + 2·{}) {}", once, t, b, counts.n_rec_matrices));
  add("train_attention", si(flops.train_attention),
      all ? "4 H K (S + 1)/2 · (3 (p + B c) + (T + 2B) s)"
          : "4 H K (S + 1)/2 · (3 (p + c) + (T + 2B) s)");
  add("", "",
      fmt::format("4 · {} · {}/2 · (3·{} + ({} + 2·{}) {})", width, length + 1,
                  once_layers + (read - 1) * model.coda_layers, t, b, model.core_layers));
  add("train_head", si(flops.train_head),
      all ? fmt::format("6 V D B = 6 · {} · {} · {}", vocab, model.d_model, read)
          : fmt::format("6 V D = 6 · {} · {}", vocab, model.d_model));
  add("train", si(flops.train), "train_matmul + train_attention + train_head");
  add("forward", si(flops.forward),
      "2 (N_once + T N_rec) + 4 H K (S + 1)/2 · (p + c + T s) + 2 V D");
  add("", "",
      fmt::format("2 ({} + {}·{}) + 4 · {} · {}/2 · ({} + {}·{}) + 2 · {} · {}",
                  counts.n_once_matrices, t, counts.n_rec_matrices, width, length + 1, once_layers,
                  t, model.core_layers, vocab, model.d_model));
  return table.aligned();
}

}  // namespace rondo
