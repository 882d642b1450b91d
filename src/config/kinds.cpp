// The keys of each kind of model.
#include "config/kinds.h"

#include <algorithm>
#include <array>
#include <span>

namespace rondo {
namespace {

// Besides all of [loops].
constexpr std::array<std::string_view, 14> kLoopedKeys = {
    "model.layout",        "model.prelude_layers", "model.core_layers",    "model.coda_layers",
    "model.state_init",    "model.state_std",      "model.injection",      "model.injection_init",
    "model.loop_norm",     "model.history",        "model.history_window", "model.timestep",
    "model.timestep_grid", "train.loop_loss"};
constexpr std::array<std::string_view, 10> kRltKeys = {
    "model.encoder_layers",   "model.decoder_layers", "model.feedback_interval",
    "model.window",           "model.merge_scale",    "model.merge_bias",
    "model.share_blocks",     "train.bptt_tokens",    "train.bptt_detach",
    "train.feedback_schedule"};

bool is_in(std::string_view key, std::span<const std::string_view> keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

}  // namespace

bool applies(std::string_view key, ModelKind kind) {
  if (kind == ModelKind::kRlt) return !key.starts_with("loops.") && !is_in(key, kLoopedKeys);
  return !is_in(key, kRltKeys);
}

std::int64_t physical_depth(const Config& config) {
  const auto& model = config.model;
  if (model.kind == ModelKind::kRlt) return model.encoder_layers + model.decoder_layers;
  return model.prelude_layers + model.core_layers + model.coda_layers;
}

std::int64_t effective_depth(const Config& config) {
  const auto& model = config.model;
  if (model.kind == ModelKind::kRlt) return model.encoder_layers + model.decoder_layers;
  return model.prelude_layers + model.core_layers * config.loops.forward + model.coda_layers;
}

}  // namespace rondo
