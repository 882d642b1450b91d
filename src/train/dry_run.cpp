// `train --dry-run`.
#include "train/dry_run.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "config/recipe.h"
#include "tensor/roof.h"
#include "tensor/tensor.h"
#include "train/preflight.h"
#include "train/run_data.h"
#include "train/settle.h"

namespace rondo {

Json plan_training(const Config& recipe, const fs::path& out) {
  const RunData data(recipe.data);
  const auto config = settle(data.completed(recipe), data.vocab());
  set_threads(static_cast<int>(config.engine.threads));
  const auto facts =
      preflight(config, data.training_tokens(), known_roof_gflops(), data.tokens_per_sequence());
  refuse_if_too_large(config, facts, out);
  for (const auto& note : notes(config)) log("note: {}", note);
  return {{"text", data.description() + "\n" + preflight_text(config, facts)},
          {"parameters", facts.parameters},
          {"tokens", std::llround(facts.tokens)},
          {"tokens_per_parameter", facts.tokens_per_parameter},
          {"flops", facts.flops},
          {"memory_bytes", facts.memory_bytes},
          {"disk_bytes", facts.disk_bytes},
          {"estimated_s", facts.seconds},
          {"estimated_by", facts.measured ? "measured speeds" : "share of the roof"},
          {"roof_gflops", facts.roof_gflops},
          {"micro_batch", config.train.micro_batch}};
}

}  // namespace rondo
