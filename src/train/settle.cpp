// Deciding for this machine.
#include "train/settle.h"

#include "base/error.h"
#include "cost/memory.h"
#include "train/precision.h"
#include "train/quickest.h"

namespace rondo {
namespace {

// Share of the machine's memory that one run plans to use.
constexpr double kMemoryShare = 0.5;

}  // namespace

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
  if (config.engine.gemm == GemmChoice::kAuto) config.engine.gemm = quickest_gemm_for(config);
  if (config.train.micro_batch == 0) {
    const double budget = kMemoryShare * static_cast<double>(total_memory_bytes());
    config.train.micro_batch =
        quickest_micro_batch(config, largest_micro_batch(config, config.model.vocab, budget));
  }
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
