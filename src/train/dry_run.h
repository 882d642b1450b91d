// What a training run would be, without running it.
#pragma once

#include "base/files.h"
#include "base/json.h"
#include "config/config.h"

namespace rondo {

/// What `train` would do, in numbers and, as `text`, in the lines that it would print first. Reads
/// the data, writes nothing.
Json plan_training(const Config& config, const fs::path& out);

}  // namespace rondo
