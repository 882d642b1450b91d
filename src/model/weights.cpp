// Saving and loading weights by name.
#include "model/weights.h"

#include <set>

#include "base/error.h"
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

}  // namespace

TensorFile weights_file(const LoopedLm& model, const Config& config) {
  TensorFile file;
  visit_parameters(model, [&](const std::string& name, const Parameter& parameter) {
    file.tensors[name] = parameter.value.detach().to(at::kFloat);
  });
  file.metadata[kConfigKey] = to_toml(config);
  file.metadata[kAliasesKey] = model.head ? "{}" : R"({"head.weight":"embed.weight"})";
  return file;
}

void load_weights(LoopedLm& model, const TensorFile& file, const std::string& source) {
  std::set<std::string> used;
  visit_parameters(model, [&](const std::string& name, Parameter& parameter) {
    const auto found = file.tensors.find(name);
    require(found != file.tensors.end(), "{}: tensor {} is missing; expected shape {}", source,
            name, shape_text(parameter.shape));
    const auto& tensor = found->second;
    require(tensor.sizes() == at::IntArrayRef(parameter.shape),
            "{}: tensor {} has shape {}, expected {} from its config", source, name,
            shape_text(tensor.sizes()), shape_text(parameter.shape));
    require(tensor.is_floating_point(), "{}: tensor {} does not hold floating-point numbers",
            source, name);
    parameter.value = tensor.to(at::kFloat).clone().requires_grad_(true);
    used.insert(name);
  });
  for (const auto& [name, tensor] : file.tensors)
    require(used.contains(name), "{}: tensor {} is not part of the model of its config", source,
            name);
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
  stored.model = make_looped_lm(stored.config.model);
  use_engine(stored.config.engine);
  stored.model.form = form_of(stored.config.engine);
  load_weights(stored.model, content, file.string());
  return stored;
}

}  // namespace rondo
