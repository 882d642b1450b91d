// Finding weights below a path.
#include "eval/open_model.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "record/checkpoints.h"
#include "record/run_folder.h"

namespace rondo {

void check_weights(const fs::path& file) {
  const auto manifest = file.parent_path() / kManifestFile;
  if (file.filename() != kWeightsFile || !fs::exists(manifest)) return;
  const auto json = Json::parse(read_file(manifest), nullptr, /*allow_exceptions=*/false);
  const Json::json_pointer place("/files/model.safetensors");
  require(json.is_object() && json.contains(place) && json[place].is_string(),
          "{}: holds no hash of {}; the checkpoint is damaged", manifest.string(), kWeightsFile);
  require(json[place] == sha256_of_file(file),
          "{}: truncated or altered: its SHA-256 is not the one in {}", file.string(),
          kManifestFile);
}

fs::path find_weights(const fs::path& path, bool best) {
  require(fs::exists(path),
          "{}: no such model; expected a run, a checkpoint or a .safetensors file", path.string());
  if (!fs::is_directory(path)) return path;
  if (fs::exists(path / kWeightsFile)) return path / kWeightsFile;
  const auto checkpoints = list_checkpoints(path / kCheckpointsFolder);
  if (checkpoints.empty()) {
    require(!fs::exists(path / "config.json"),
            "{}: Hugging Face folders cannot be read in this version", path.string());
    fail("{}: no {} and no checkpoints in it; expected a run or a checkpoint folder", path.string(),
         kWeightsFile);
  }
  return (best ? best_checkpoint(checkpoints) : checkpoints.back()).path / kWeightsFile;
}

OpenedModel open_model(const fs::path& path, bool best) {
  const auto file = find_weights(path, best);
  check_weights(file);
  return {.stored = read_model(file), .file = file};
}

}  // namespace rondo
