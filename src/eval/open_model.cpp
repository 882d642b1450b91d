// Finding weights below a path.
#include "eval/open_model.h"

#include "base/error.h"
#include "record/checkpoints.h"
#include "record/run_folder.h"

namespace rondo {

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
  return {.stored = read_model(file), .file = file};
}

}  // namespace rondo
