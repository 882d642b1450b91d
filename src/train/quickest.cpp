// Timing products and a block.
#include "train/quickest.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <vector>

#include "base/statistics.h"
#include "nn/block.h"
#include "nn/engine.h"
#include "nn/init.h"
#include "nn/rotary.h"
#include "tensor/gemm.h"
#include "train/choices.h"
#include "train/precision.h"

namespace rondo {
namespace {

using Clock = std::chrono::steady_clock;

// Below so many tokens products lose speed, beyond so many they gain none.
constexpr std::int64_t kFewTokens = 512, kEnoughTokens = 8192;
// What a larger micro-batch must win to be worth its memory.
constexpr double kWorthwhile = 0.03;
constexpr int kRounds = 3;
// A block that takes this long is large enough for products to run at full speed.
constexpr double kLongEnough = 0.25;

std::int64_t divisor_of_at_most(std::int64_t batch, std::int64_t most) {
  auto micro = std::clamp<std::int64_t>(most, 1, batch);
  while (batch % micro != 0) --micro;
  return micro;
}

/// Tokens of a sequence that go through a product together: of a recurrent model those of a chunk.
std::int64_t tokens_at_once(const Config& config) {
  const auto& model = config.model;
  const bool chunks = model.kind == ModelKind::kRlt && model.feedback_interval > 0;
  return chunks ? std::min(model.feedback_interval, config.data.sequence_length)
                : config.data.sequence_length;
}

/// Micro-batches worth a try, from small to large. A recurrent model's products have few rows of
/// each sequence, so it takes as many sequences as give enough.
std::vector<std::int64_t> candidates(const Config& config, std::int64_t fits) {
  const auto length = config.data.sequence_length;
  if (config.model.kind == ModelKind::kRlt) {
    constexpr std::int64_t kEnoughRows = 256;
    const auto enough = std::max(kEnoughTokens / length, kEnoughRows / tokens_at_once(config));
    return {divisor_of_at_most(config.train.batch, std::min(fits, enough))};
  }
  std::vector<std::int64_t> list;
  for (auto tokens = kEnoughTokens; tokens >= kFewTokens; tokens /= 2) {
    const auto most = std::max<std::int64_t>(1, tokens / length);
    const auto micro = divisor_of_at_most(config.train.batch, std::min(most, fits));
    if (list.empty() || list.back() != micro) list.push_back(micro);
  }
  std::ranges::reverse(list);
  return list;
}

/// A block of the recipe, and one pass through it and back.
class Trial {
 public:
  explicit Trial(const Config& config) : config_(config), block_(make_block(config.model)) {
    visit_parameters(block_, [&](const std::string& name, Parameter& parameter) {
      initialise(name, parameter, config.model, config.seed);
    });
    context_ = {.config = config.model,
                .rotary = make_rotary(config.model, config.data.sequence_length, at::kFloat),
                .allowed_BTT = {},
                .form = form_of(config.engine)};
  }

  /// Seconds per sequence.
  [[nodiscard]] double seconds(std::int64_t micro) {
    const FactorScope scope(factors_of(config_.train.precision));
    const auto x =
        at::ones({micro, config_.data.sequence_length, config_.model.d_model}).requires_grad_(true);
    const auto start = Clock::now();
    back_propagate(forward(pack(block_), x, context_).sum());
    return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(micro);
  }

 private:
  const Config& config_;
  Block block_;
  BlockContext context_;
};

std::int64_t measured_micro_batch(const Config& config, std::vector<std::int64_t> list) {
  Trial trial(config);
  std::vector<std::vector<double>> times(list.size());
  for (int round = 0; round <= kRounds; ++round) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const double one = trial.seconds(list[i]);
      if (round > 0) times[i].push_back(one);  // the first compiles kernels and touches pages
      if (round == 0 && one * static_cast<double>(list[i]) > kLongEnough) list.resize(i + 1);
    }
  }
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < list.size(); ++i) best = std::min(best, median(times[i]));
  for (std::size_t i = 0; i < list.size(); ++i)
    if (median(times[i]) <= best * (1.0 + kWorthwhile)) return list[i];
  return list.back();
}

std::string shape_of(const Config& config) {
  const auto& model = config.model;
  return fmt::format("d {} heads {}/{} x {} ff {}, {} threads", model.d_model, model.heads,
                     model.kv_heads, model.head_dim, model.d_ff, config.engine.threads);
}

}  // namespace

GemmChoice quickest_gemm_for(const Config& config) {
  const auto& model = config.model;
  if (!config.engine.fused) return GemmChoice::kLibtorch;
  set_threads(static_cast<int>(config.engine.threads));
  // So many rows show the speed of more; large models would take long to choose with all.
  constexpr std::int64_t kRows = 1024;
  const auto sequences =
      config.train.micro_batch == 0 ? config.train.batch : config.train.micro_batch;
  const auto rows = std::min(std::min(sequences, kRows) * tokens_at_once(config), kRows);
  const auto question = fmt::format("gemm: {}, {} rows", shape_of(config), rows);
  if (const auto kept = kept_choice(question)) {
    if (*kept == word(GemmChoice::kOnednn)) return GemmChoice::kOnednn;
    if (*kept == word(GemmChoice::kLibtorch)) return GemmChoice::kLibtorch;
  }
  const auto queries = model.heads * model.head_dim, keys = model.kv_heads * model.head_dim;
  const ProductShape shapes[] = {{rows, model.d_model, queries + 2 * keys},
                                 {rows, queries, model.d_model},
                                 {rows, model.d_model, 2 * model.d_ff},
                                 {rows, model.d_ff, model.d_model}};
  const auto choice =
      quickest_gemm(shapes) == Gemm::kOneDnn ? GemmChoice::kOnednn : GemmChoice::kLibtorch;
  keep_choice(question, std::string(word(choice)));
  return choice;
}

std::int64_t quickest_micro_batch(const Config& config, std::int64_t fits) {
  const auto list = candidates(config, fits);
  if (list.size() == 1) return list.front();
  const auto question = fmt::format(
      "micro-batch: {}, {} {} {}, {} of {} x {}", shape_of(config), word(config.engine.gemm),
      word(config.train.precision), config.engine.fused ? "fused" : "composed",
      fmt::join(list, ","), config.train.batch, config.data.sequence_length);
  if (const auto kept = kept_choice(question)) {
    std::int64_t micro = 0;
    std::from_chars(kept->data(), kept->data() + kept->size(), micro);
    if (std::ranges::find(list, micro) != list.end()) return micro;
  }
  set_threads(static_cast<int>(config.engine.threads));
  use_engine(config.engine);
  const auto micro = measured_micro_batch(config, list);
  keep_choice(question, std::to_string(micro));
  return micro;
}

}  // namespace rondo
