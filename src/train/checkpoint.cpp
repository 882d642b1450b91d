// Checkpoints.
#include "train/checkpoint.h"

#include <array>
#include <cstdio>

#include "base/error.h"
#include "base/version.h"
#include "config/recipe.h"
#include "model/weights.h"

namespace rondo {
namespace {

/// "1.12.3" as numbers that compare; what is missing counts as 0.
std::array<int, 3> version_numbers(const std::string& version) {
  std::array<int, 3> numbers{};
  (void)std::sscanf(version.c_str(), "%d.%d.%d", &numbers[0], &numbers[1], &numbers[2]);
  return numbers;
}

/// The manifest holds hashes of everything but itself, so what it lists is checked here.
void check_manifest(const Manifest& manifest, const fs::path& checkpoint) {
  const auto file = (checkpoint / kManifestFile).string();
  for (const char* name : {kWeightsFile, kStateFile})
    require(manifest.files.contains(name), "{}: lists no {}; the checkpoint is damaged", file,
            name);
  require(version_numbers(manifest.version) <= version_numbers(kVersion),
          "{}: written by Rondo {}; this is {}, which may not go on exactly. Use that version",
          file, manifest.version, kVersion);
}

}  // namespace

void save_checkpoint(const fs::path& folder, const Config& config, const Model& model,
                     const Optimizer& optimizer, Manifest manifest) {
  const fs::path path = folder / checkpoint_name(manifest.step);
  const fs::path temporary = path.string() + ".tmp";
  std::error_code ignored;
  fs::remove_all(temporary, ignored);
  try {
    create_folder(temporary);
    write_safetensors(temporary / kWeightsFile, weights_file(model, config));
    write_safetensors(temporary / kStateFile, optimizer.state());
    for (const char* name : {kWeightsFile, kStateFile})
      manifest.files[name] = sha256_of_file(temporary / name);
    manifest.config_hash = config_hash(config);
    manifest.version = kVersion;
    publish_checkpoint(temporary, path, manifest);
  } catch (...) {
    fs::remove_all(temporary, ignored);
    throw;
  }
}

Manifest load_checkpoint(const fs::path& checkpoint, const Config& config, Model& model,
                         Optimizer& optimizer) {
  auto manifest = verify_checkpoint(checkpoint);
  check_manifest(manifest, checkpoint);
  require(
      manifest.config_hash == config_hash(config),
      "{}: written under another config (hash {}…, this run has {}…); use the run's own recipe or "
      "another --out",
      checkpoint.string(), manifest.config_hash.substr(0, 12), config_hash(config).substr(0, 12));
  const auto weights = checkpoint / kWeightsFile, state = checkpoint / kStateFile;
  optimizer.load_state(read_safetensors(state), state.string());
  load_weights(model, read_safetensors(weights), weights.string());
  return manifest;
}

}  // namespace rondo
