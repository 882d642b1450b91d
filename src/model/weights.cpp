// Saving and loading weights by name.
#include "model/weights.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "config/recipe.h"
#include "nn/engine.h"

namespace rondo {
namespace {

constexpr const char* kConfigKey = "rondo.config";
constexpr const char* kAliasesKey = "rondo.aliases";

std::string shape_text(at::IntArrayRef shape) {
  std::vector<std::string> sizes;
  for (const auto n : shape) sizes.push_back(std::to_string(n));
  return "[" + join(sizes, ", ") + "]";
}

/// Second names of tensors that are stored once.
Json aliases_of(const ModelConfig& model) {
  Json aliases = Json::object();
  if (model.tied_head) aliases["head.weight"] = "embed.weight";
  if (model.kind != ModelKind::kRlt || !model.share_blocks) return aliases;
  for (std::int64_t i = 0; i < model.decoder_layers; ++i)
    for (const char* part :
         {"attn.q", "attn.k", "attn.v", "attn.o", "mlp.gate", "mlp.up", "mlp.down"})
      aliases[fmt::format("decoder.{}.{}.weight", i, part)] =
          fmt::format("encoder.{}.{}.weight", i, part);
  return aliases;
}

/// Kind and split in a few words: "an rlt of 4 encoder and 4 decoder layers".
std::string split_text(const ModelConfig& model) {
  if (model.kind == ModelKind::kRlt)
    return fmt::format("an RLT of {} encoder and {} decoder layers", model.encoder_layers,
                       model.decoder_layers);
  return fmt::format("a looped model of {} + {} + {} layers", model.prelude_layers,
                     model.core_layers, model.coda_layers);
}

/// What conditions the recurrence, in a few words: "dense injection, channel history of 2, adaln".
std::string conditioning_text(const ModelConfig& model) {
  std::vector<std::string> parts;
  if (model.kind == ModelKind::kRlt) return "nothing";
  if (model.injection != Injection::kNone)
    parts.push_back(fmt::format("{} injection", word(model.injection)));
  if (model.history != HistoryForm::kNone)
    parts.push_back(fmt::format("{} history of {}", word(model.history), model.history_window));
  if (model.timestep != TimestepForm::kNone)
    parts.push_back(fmt::format("timestep {}", word(model.timestep)));
  return parts.empty() ? "nothing" : join(parts, ", ");
}

/// Refuses weights that their file says are those of another kind, split or conditioning: said
/// once, instead of for the first tensor that does not fit.
void check_split(const Model& model, const TensorFile& file, const std::string& source) {
  const auto config = file.metadata.find(kConfigKey);
  if (config == file.metadata.end()) return;
  const auto stored = parse_recipe(config->second, source + " (rondo.config)").model;
  const auto theirs = split_text(stored), ours = split_text(config_of(model));
  require(theirs == ours, "{}: holds {}, and this is {}; use weights of the same split", source,
          theirs, ours);
  const auto conditions = conditioning_text(stored), wanted = conditioning_text(config_of(model));
  require(
      conditions == wanted,
      "{}: its recurrence is conditioned by {}, and this model's by {}; use weights of the same "
      "conditioning (model.injection, model.history, model.history_window, model.timestep)",
      source, conditions, wanted);
}

}  // namespace

TensorFile weights_file(const Model& model, const Config& config) {
  TensorFile file;
  visit_parameters(model, [&](const std::string& name, const Parameter& parameter) {
    file.tensors[name] = parameter.value.detach().to(at::kFloat);
  });
  file.metadata[kConfigKey] = to_toml(config);
  file.metadata[kAliasesKey] = aliases_of(config.model).dump();
  return file;
}

void load_weights(Model& model, const TensorFile& file, const std::string& source) {
  check_split(model, file, source);
  std::set<std::string> used;
  visit_parameters(model, [&](const std::string& name, Parameter& parameter) {
    const auto found = file.tensors.find(name);
    require(found != file.tensors.end(),
            "{}: tensor {} is missing; expected shape {} in this model", source, name,
            shape_text(parameter.shape));
    const auto& tensor = found->second;
    require(tensor.sizes() == at::IntArrayRef(parameter.shape),
            "{}: tensor {} has shape {}, expected {} in this model", source, name,
            shape_text(tensor.sizes()), shape_text(parameter.shape));
    require(tensor.is_floating_point(), "{}: tensor {} does not hold floating-point numbers",
            source, name);
    parameter.value = tensor.to(at::kFloat).clone().requires_grad_(true);
    used.insert(name);
  });
  for (const auto& [name, tensor] : file.tensors)
    require(used.contains(name),
            "{}: tensor {} is not part of this model; expected weights of the same architecture",
            source, name);
}

StoredModel read_model(const fs::path& file) {
  const auto content = read_safetensors(file);
  const auto config = content.metadata.find(kConfigKey);
  require(config != content.metadata.end(),
          "{}: no {} in its metadata; expected weights that Rondo wrote", file.string(),
          kConfigKey);
  StoredModel stored{.config = parse_recipe(config->second, file.string() + " (rondo.config)"),
                     .model = {}};
  require(stored.config.model.vocab > 0, "{}: its config has no model.vocab", file.string());
  stored.model = make_model(stored.config.model);
  use_engine(stored.config.engine);
  set_form(stored.model, form_of(stored.config.engine));
  load_weights(stored.model, content, file.string());
  return stored;
}

}  // namespace rondo
