// The checkpoints of a run as they lie on disk: names, manifests, which to keep.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"

namespace rondo {

inline constexpr const char* kWeightsFile = "model.safetensors";
inline constexpr const char* kStateFile = "state.safetensors";
inline constexpr const char* kManifestFile = "manifest.json";

/// What a checkpoint says about itself, in manifest.json.
struct Manifest {
  std::int64_t format = 1;
  std::int64_t step = 0;
  std::string config_hash;
  std::string data_sha256;                     ///< of the data trained on
  std::string version;                         ///< of Rondo
  std::map<std::string, std::string> files;    ///< SHA-256 by file name
  double tokens = 0, flops = 0;                ///< since the start of the run
  double wall_s = 0;                           ///< training time so far
  std::optional<double> validation_loss_nats;  ///< measured at this step
  std::optional<double> train_loss_nats;
};

/// A checkpoint folder with its manifest.
struct CheckpointEntry {
  fs::path path;
  Manifest manifest;
};

/// "step-00000500".
std::string checkpoint_name(std::int64_t step);

/// Complete checkpoints below a run's `checkpoints` folder, by step; unfinished ones (temporary
/// names) are passed over. Empty when the folder is not there. Throws input errors for a damaged
/// manifest.
std::vector<CheckpointEntry> list_checkpoints(const fs::path& folder);

/// The one of lowest validation loss, the earliest of equals; the last one when none was validated.
const CheckpointEntry& best_checkpoint(const std::vector<CheckpointEntry>& entries);

/// Reads a checkpoint's manifest and holds every file against its hash. Throws input errors that
/// name what is missing, truncated or altered.
Manifest verify_checkpoint(const fs::path& checkpoint);

/// Writes the manifest, makes the folder durable and gives it its final name. `temporary` holds the
/// files already.
void publish_checkpoint(const fs::path& temporary, const fs::path& final_path,
                        const Manifest& manifest);

/// Deletes all but the last `keep` and, with `keep_best`, the best one.
void prune_checkpoints(const fs::path& folder, std::int64_t keep, bool keep_best);

}  // namespace rondo
