// Saving and restoring all that a run needs to go on exactly.
#pragma once

#include "config/config.h"
#include "model/model.h"
#include "record/checkpoints.h"
#include "train/optimizer.h"

namespace rondo {

/// Writes `folder`/step-NNNNNNNN: weights, optimiser moments, manifest. Nothing else has state: the
/// schedule, the position in the data and every random stream are functions of the step. The old
/// checkpoints stay until this one is complete. Throws an error of the work when the disk is full.
void save_checkpoint(const fs::path& folder, const Config& config, const Model& model,
                     const Optimizer& optimizer, Manifest manifest);

/// Verifies a checkpoint's hashes and config, and loads it. Throws input errors that name what
/// differs.
Manifest load_checkpoint(const fs::path& checkpoint, const Config& config, Model& model,
                         Optimizer& optimizer);

}  // namespace rondo
