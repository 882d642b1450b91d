// Counting before training.
#include "train/preflight.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/text.h"
#include "cost/flops.h"
#include "cost/memory.h"
#include "cost/parameters.h"
#include "cost/time.h"
#include "nn/engine.h"
#include "tensor/gemm.h"
#include "tensor/machine_speed.h"
#include "tensor/tensor.h"

namespace rondo {
namespace {

// Share of the speed of large products that a training step reaches, for a machine that is not
// measured; docs/LOG.md has the measurements.
constexpr double kExpectedShare = 0.7;
// The process before the first tensor: libraries and their tables.
constexpr double kProcessBytes = 175e6;

/// Layers and loops of a looped model.
std::string loops_text(const Config& config) {
  const auto& loops = config.loops;
  return fmt::format("{} + {} x {} + {} layers, d {}; {} loops ({}), {} back-propagated",
                     config.model.prelude_layers, config.model.core_layers, loops.forward,
                     config.model.coda_layers, config.model.d_model, loops.forward,
                     word(loops.sampler),
                     loops.backward == 0 ? "all" : fmt::format("at most {}", loops.backward));
}

/// Layers, feedback and truncation of an RLT.
std::string rlt_text(const Config& config) {
  const auto& model = config.model;
  const auto interval = model.feedback_interval;
  return fmt::format("{} encoder + {} decoder layers, d {}; feedback {}, {} back-propagated",
                     model.encoder_layers, model.decoder_layers, model.d_model,
                     interval == 0   ? "none"
                     : interval == 1 ? "at every token"
                                     : fmt::format("every {} tokens", interval),
                     config.train.bptt_tokens == 0
                         ? "all tokens"
                         : fmt::format("{} tokens", config.train.bptt_tokens));
}

}  // namespace

Preflight preflight(const Config& config, double training_tokens, double roof_gflops,
                    double sequence_tokens) {
  Preflight facts;
  const auto counts = count_parameters(config.model, config.model.vocab);
  facts.parameters = counts.total;
  facts.tokens =
      static_cast<double>(config.train.steps) * static_cast<double>(config.train.batch) *
      (sequence_tokens > 0 ? sequence_tokens : static_cast<double>(config.data.sequence_length));
  facts.tokens_per_parameter = facts.tokens / static_cast<double>(counts.non_embedding());
  if (training_tokens > 0) facts.epochs = facts.tokens / training_tokens;
  const auto flops = expected_flops_per_token(config);
  facts.flops = flops.train_matmul * facts.tokens;
  const auto memory =
      memory_bytes(config, config.model.vocab, {.micro_batch = config.train.micro_batch});
  facts.memory_bytes = memory.total() + kProcessBytes;
  // Weights and two moments each; while a new one is written, all kept ones are still there.
  const auto kept = config.train.keep + (config.train.keep_best ? 1 : 0) + 1;
  facts.disk_bytes = static_cast<double>(kept) * 12.0 * static_cast<double>(facts.parameters);
  facts.roof_gflops = roof_gflops;
  if (roof_gflops > 0) {
    use_engine(config.engine);
    const auto speed = cached_machine_speed(config.engine.threads);
    facts.measured = speed.has_value();
    facts.seconds =
        speed ? run_seconds(config, config.model.vocab, config.train.micro_batch, *speed).total()
              : seconds_for(flops.train * facts.tokens, {known_product_gflops(), kExpectedShare});
  }
  return facts;
}

MachineSpeed measured_machine_speed(std::int64_t threads, bool anew) {
  if (!anew)
    if (auto cached = cached_machine_speed(threads)) return *std::move(cached);
  log("measuring this machine with {} threads", threads);
  set_threads(static_cast<int>(threads));
  auto speed = machine_speed_from(measure_machine_speed(), "the measurement of this machine");
  if (!speed.undisturbed()) {
    log("note: other processes took {:.0f} % of the processors; the measurement is not kept",
        100.0 * (1.0 - speed.processor_share));
    return speed;
  }
  try {
    cache_machine_speed(speed);
  } catch (const Error& error) {
    log("note: the measurement is not kept: {}", error.what());
  }
  return speed;
}

std::string preflight_text(const Config& config, const Preflight& facts) {
  std::string text =
      fmt::format("{} parameters, {}\n", si(static_cast<double>(facts.parameters)),
                  config.model.kind == ModelKind::kRlt ? rlt_text(config) : loops_text(config));
  text += fmt::format("{} tokens in {} steps ({:.1f} per non-embedding parameter{}), {} FLOPs\n",
                      si(facts.tokens), config.train.steps, facts.tokens_per_parameter,
                      facts.epochs > 0 ? fmt::format(", {:.2f} epochs", facts.epochs)
                                       : std::string(", each example drawn anew"),
                      si(facts.flops));
  text += fmt::format("memory about {} ({} free), micro-batch {} of {}; disk {} for checkpoints\n",
                      bytes(facts.memory_bytes), bytes(static_cast<double>(free_memory_bytes())),
                      config.train.micro_batch, config.train.batch, bytes(facts.disk_bytes));
  text += facts.seconds > 0
              ? fmt::format("about {} on {} threads{} at a roof of {:.0f} GFLOP/s",
                            duration(facts.seconds), config.engine.threads,
                            facts.measured ? ", as parts of a step were measured," : "",
                            facts.roof_gflops)
              : fmt::format("{} threads", config.engine.threads);
  return text;
}

void refuse_if_too_large(const Config& config, const Preflight& facts, const fs::path& out) {
  const auto free_memory = static_cast<double>(free_memory_bytes());
  require(facts.memory_bytes <= free_memory,
          "this run needs about {} of memory and {} are free; lower train.micro_batch or {}, or {}",
          bytes(facts.memory_bytes), bytes(free_memory),
          config.data.source == DataSource::kTask ? "data.max_length" : "data.sequence_length",
          config.model.kind == ModelKind::kRlt
              ? "cut back-propagation (train.bptt_tokens)"
              : "lower loops.backward, or set loops.recompute = true");
  const auto free_disk = static_cast<double>(free_disk_bytes(out));
  require(
      facts.disk_bytes <= free_disk,
      "{}: the checkpoints need about {} and {} are free; lower train.keep or choose another --out",
      out.string(), bytes(facts.disk_bytes), bytes(free_disk));
}

}  // namespace rondo
