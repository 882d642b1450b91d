// What the word MODEL on the command line stands for.
#pragma once

#include <string>

#include "model/weights.h"

namespace rondo {

/// A model found on disk.
struct OpenedModel {
  StoredModel stored;
  fs::path file;  ///< the model.safetensors it came from
};

/// The weights file that `path` stands for: a model.safetensors, a folder that holds one (a
/// checkpoint or an export), or a run folder: its last checkpoint, or with `best` the one of lowest
/// validation loss. Throws input errors.
fs::path find_weights(const fs::path& path, bool best = false);

/// Throws an input error for weights of a checkpoint that are not those its manifest was written
/// for. The optimiser's state may be missing; a model needs none.
void check_weights(const fs::path& file);

/// Opens it, checks it and reads it.
OpenedModel open_model(const fs::path& path, bool best = false);

}  // namespace rondo
