// Weights on disk: tensors under the contract's names, the recipe in the metadata.
#pragma once

#include "config/config.h"
#include "model/model.h"
#include "tensor/safetensors.h"

namespace rondo {

/// The model's tensors (fp32, true shapes, a tied tensor once) with the resolved config as TOML
/// under `rondo.config` and second names of shared tensors under `rondo.aliases`.
TensorFile weights_file(const Model& model, const Config& config);

/// Gives the model the values of a file. `source` names it in errors. Throws input errors for
/// missing, unknown or differently shaped tensors, for values that are not floating point, and for
/// the weights of another kind or split of layers.
void load_weights(Model& model, const TensorFile& file, const std::string& source);

/// A model with the recipe that its file carries.
struct StoredModel {
  Config config;
  Model model;
};

/// Reads a model.safetensors. Throws input errors: not a Rondo model (no `rondo.config`), a config
/// of another version, damaged tensors.
StoredModel read_model(const fs::path& file);

}  // namespace rondo
