// Deciding for this machine.
#include "train/settle.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "config/recipe.h"
#include "cost/memory.h"
#include "tensor/gemm.h"

namespace rondo {
namespace {

// Share of the machine's memory that one run plans to use.
constexpr double kMemoryShare = 0.5;
// Tokens of a micro-batch beyond which products run no faster; more would only cost memory.
constexpr std::int64_t kEnoughTokens = 8192;

/// The largest divisor of the batch that fits into memory and is not larger than it is worth.
std::int64_t choose_micro_batch(const Config& config) {
  const double budget = kMemoryShare * static_cast<double>(total_memory_bytes());
  const auto fits = largest_micro_batch(config, config.model.vocab, budget);
  const auto enough = std::max<std::int64_t>(1, kEnoughTokens / config.data.sequence_length);
  auto micro = std::clamp<std::int64_t>(std::min(fits, enough), 1, config.train.batch);
  while (config.train.batch % micro != 0) --micro;
  return micro;
}

/// The quicker library for the products of a block.
GemmChoice choose_gemm(const Config& config) {
  const auto& model = config.model;
  if (!config.engine.fused) return GemmChoice::kLibtorch;
  set_threads(static_cast<int>(config.engine.threads));
  // So many rows show the speed of more; large models would take long to choose with all.
  constexpr std::int64_t kRows = 1024;
  const auto micro = std::min(config.train.micro_batch, kRows);
  const auto rows = std::min(micro * config.data.sequence_length, kRows);
  const auto queries = model.heads * model.head_dim, keys = model.kv_heads * model.head_dim;
  const ProductShape shapes[] = {{rows, model.d_model, queries + 2 * keys},
                                 {rows, queries, model.d_model},
                                 {rows, model.d_model, 2 * model.d_ff},
                                 {rows, model.d_ff, model.d_model}};
  return quickest_gemm(shapes) == Gemm::kOneDnn ? GemmChoice::kOnednn : GemmChoice::kLibtorch;
}

}  // namespace

Precision settle_precision(Precision wanted, const CpuFeatures& features) {
  if (wanted != Precision::kBf16) return Precision::kFp32;
  require(features.bf16(),
          "train.precision = \"bf16\": this machine has no bf16 units (AMX or AVX-512 BF16); use "
          "\"fp32\" or \"auto\"");
  fail(
      "train.precision = \"bf16\": training in bf16 is not available in this version; use \"fp32\" "
      "or "
      "\"auto\"");
}

void check_device(DeviceKind device) {
  require(device == DeviceKind::kCpu,
          "train.device = \"cuda\": this build has no CUDA; use \"cpu\"");
}

Config settle(Config config, std::int64_t tokenizer_vocab) {
  check_device(config.train.device);
  config.train.precision = settle_precision(config.train.precision, cpu_features());
  if (config.model.vocab == 0) config.model.vocab = tokenizer_vocab;
  require(config.model.vocab >= tokenizer_vocab,
          "model.vocab = {} is smaller than the tokenizer's {} ids; leave it 0 or make it larger",
          config.model.vocab, tokenizer_vocab);
  if (config.engine.threads == 0) config.engine.threads = available_cores();
  if (config.train.micro_batch == 0) config.train.micro_batch = choose_micro_batch(config);
  if (config.engine.gemm == GemmChoice::kAuto) config.engine.gemm = choose_gemm(config);
  return config;
}

Config adopt_settled(Config recipe, const Config& earlier) {
  if (recipe.model.vocab == 0) recipe.model.vocab = earlier.model.vocab;
  if (recipe.train.micro_batch == 0) recipe.train.micro_batch = earlier.train.micro_batch;
  if (recipe.engine.threads == 0) recipe.engine.threads = earlier.engine.threads;
  if (recipe.engine.gemm == GemmChoice::kAuto) recipe.engine.gemm = earlier.engine.gemm;
  if (recipe.train.precision == Precision::kAuto) recipe.train.precision = earlier.train.precision;
  return recipe;
}

}  // namespace rondo
