// Search for the plain recipes: layers first, then the feed-forward width takes up what is left.
#include "cost/baselines.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "config/recipe.h"
#include "cost/flops.h"
#include "cost/memory.h"
#include "cost/parameters.h"

namespace rondo {
namespace {

std::int64_t layers_of(const ModelConfig& model) {
  return model.prelude_layers + model.core_layers + model.coda_layers;
}

/// The recipe with one loop and nothing that only loops need.
Config without_loops(Config config) {
  config.model.injection = Injection::kNone;
  config.model.history = HistoryForm::kNone;
  config.model.history_window = 0;
  config.model.timestep = TimestepForm::kNone;
  config.model.timestep_grid = TimestepGrid::kRescaled;
  config.model.loop_norm = false;
  config.model.state_init = StateInit::kPrelude;
  config.loops = LoopsConfig{};
  config.loops.forward = config.loops.backward = 1;
  return config;
}

/// Sets the number of layers in all by the size of the core. Refuses more than a recipe may have.
void set_layers(Config& config, double layers, const std::string& match) {
  const auto outside = static_cast<double>(config.model.prelude_layers + config.model.coda_layers);
  const double core = std::max(0.0, layers - outside);
  require(core <= kLayers.high,
          "the {} baseline would need {:.0f} layers; expected at most {:.0f}: choose fewer loops",
          match, core, kLayers.high);
  config.model.core_layers = static_cast<std::int64_t>(core);
}

std::int64_t whole_width(double width) { return std::max<std::int64_t>(1, std::llround(width)); }

/// Parameters and training FLOPs that one more unit of d_ff adds: gate, up and down of each layer.
double parameters_per_unit(const ModelConfig& model) {
  return 3.0 * static_cast<double>(model.d_model) * static_cast<double>(layers_of(model));
}

double parameters_of(const Config& config) {
  return static_cast<double>(count_parameters(config.model, vocabulary_size(config)).total);
}

std::string change(std::string_view what, std::int64_t from, std::int64_t to) {
  return from == to ? fmt::format("{} {}", what, to) : fmt::format("{} {} → {}", what, from, to);
}

Baseline finish(const std::string& match, const Config& original, Config config, double target,
                double achieved) {
  resolve(config, fmt::format("the {} baseline", match));
  const double error = target > 0 ? achieved / target - 1.0 : 0.0;
  const std::string how =
      fmt::format("{}, {}, run once; same width, heads, tokens, data and optimisation",
                  change("layers", layers_of(original.model), layers_of(config.model)),
                  change("d_ff", original.model.d_ff, config.model.d_ff));
  return {.match = match,
          .config = config,
          .parameters = count_parameters(config.model, vocabulary_size(config)).total,
          .flops_per_token = flops_per_token(config).train,
          .target = target,
          .achieved = achieved,
          .relative_error = error,
          .how = how};
}

Baseline equal_parameters(const Config& original) {
  Config config = without_loops(original);
  const double target = parameters_of(original);
  if (layers_of(config.model) > 0) {
    const double gap = target - parameters_of(config);
    config.model.d_ff = whole_width(static_cast<double>(config.model.d_ff) +
                                    gap / parameters_per_unit(config.model));
  }
  return finish("parameters", original, config, target, parameters_of(config));
}

Baseline equal_flops(const Config& original) {
  Config config = without_loops(original);
  const double target = expected_flops_per_token(original).train;
  // FLOPs are linear in the number of layers, so two points give the cost of one.
  set_layers(config, 0, "flops");
  const std::int64_t fewest = layers_of(config.model);
  const double base = flops_per_token(config).train;
  ++config.model.core_layers;
  const double layer = flops_per_token(config).train - base;
  set_layers(config, static_cast<double>(fewest) + std::round((target - base) / layer), "flops");
  if (layers_of(config.model) > 0) {
    const double gap = target - flops_per_token(config).train;
    config.model.d_ff = whole_width(static_cast<double>(config.model.d_ff) +
                                    gap / (6.0 * parameters_per_unit(config.model)));
  }
  return finish("flops", original, config, target, flops_per_token(config).train);
}

Baseline equal_kv(const Config& original) {
  Config config = without_loops(original);
  const auto loops = static_cast<double>(original.loops.forward);
  const auto outside =
      static_cast<double>(original.model.prelude_layers + original.model.coda_layers);
  set_layers(config, outside + static_cast<double>(original.model.core_layers) * loops, "kv");
  return finish("kv", original, config, kv_cache_bytes_per_token(original.model, loops),
                kv_cache_bytes_per_token(config.model, 1));
}

}  // namespace

std::vector<Baseline> matched_baselines(const Config& config) {
  require(
      config.model.kind == ModelKind::kLooped,
      "baselines: model.kind = \"rlt\": matched recipes are made for looped models; for an RLT's "
      "control use a looped recipe with loops.forward = 1, injection \"none\" and loop_norm = "
      "false");
  return {equal_parameters(config), equal_flops(config), equal_kv(config)};
}

}  // namespace rondo
