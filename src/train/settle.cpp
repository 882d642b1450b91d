// Deciding for this machine.
#include "train/settle.h"

#include <algorithm>

#include "base/error.h"
#include "config/task_lengths.h"
#include "cost/memory.h"
#include "nn/engine.h"
#include "train/precision.h"
#include "train/quickest.h"

namespace rondo {
namespace {

// Share of the machine's memory that one run plans to use.
constexpr double kMemoryShare = 0.5;
// Groups of similar length that a step of a task is cut into where lengths vary: filling up then
// costs about a twelfth of the tokens.
constexpr std::int64_t kLengthGroups = 8;

/// Whether sequences of a task run without filling; see step.cpp.
bool runs_without_filling(const Config& config) {
  const auto cut = config.train.bptt_tokens;
  const auto& data = config.data;
  const auto longest = longest_row(data.task, data.max_length, data.label_at);
  return config.model.kind == ModelKind::kRlt && form_of(config.engine) == Form::kFused &&
         (cut == 0 || (longest && cut >= *longest));
}

/// Sequences that may run together as far as their lengths are concerned.
std::int64_t largest_group(const Config& config) {
  const auto& data = config.data;
  const bool alike = data.source != DataSource::kTask || data.min_length == data.max_length;
  if (alike || (data.length_groups == 0 && runs_without_filling(config))) return config.train.batch;
  const auto groups = data.length_groups > 0 ? data.length_groups : kLengthGroups;
  return std::max<std::int64_t>(1, config.train.batch / groups);
}

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
          "model.vocab = {} is smaller than the {}'s {} ids; leave it 0 or make it larger",
          config.model.vocab, config.data.source == DataSource::kTask ? "task" : "tokenizer",
          tokenizer_vocab);
  if (config.engine.threads == 0) config.engine.threads = available_cores();
  if (config.engine.gemm == GemmChoice::kAuto) config.engine.gemm = quickest_gemm_for(config);
  if (config.train.micro_batch == 0) {
    const double budget = kMemoryShare * static_cast<double>(total_memory_bytes());
    const auto fits = largest_micro_batch(config, config.model.vocab, budget);
    config.train.micro_batch = quickest_micro_batch(config, std::min(fits, largest_group(config)));
  }
  return config;
}

Config adopt_settled(Config recipe, const Config& earlier) {
  if (recipe.model.vocab == 0) recipe.model.vocab = earlier.model.vocab;
  if (is_task_file(recipe.data.task) && recipe.data.source == DataSource::kTask) {
    if (recipe.data.min_length == 0) recipe.data.min_length = earlier.data.min_length;
    if (recipe.data.max_length == 0) recipe.data.max_length = earlier.data.max_length;
    recipe.data.sequence_length = earlier.data.sequence_length;
  }
  if (recipe.train.micro_batch == 0) recipe.train.micro_batch = earlier.train.micro_batch;
  if (recipe.engine.threads == 0) recipe.engine.threads = earlier.engine.threads;
  if (recipe.engine.gemm == GemmChoice::kAuto) recipe.engine.gemm = earlier.engine.gemm;
  if (recipe.train.precision == Precision::kAuto) recipe.train.precision = earlier.train.precision;
  return recipe;
}

}  // namespace rondo
