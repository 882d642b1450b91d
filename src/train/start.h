// What may begin, or go on, in a run's folder.
#pragma once

#include <optional>

#include "base/json.h"
#include "train/trainer.h"

namespace rondo {

/// The recipe of a run that goes on: its open choices as before, everything else unchanged. Throws
/// an input error that names each key in which `recipe` differs from the run's own.
Config resumed_config(const Config& recipe, const fs::path& out);

/// The summary of a run that has done all the steps that `recipe` asks for; nothing when it has
/// not.
std::optional<Json> finished_summary(const Config& recipe, const fs::path& out);

/// Throws an input error unless a run can be made in the folder, or gone on with.
void check_folder(const TrainOptions& options);

}  // namespace rondo
