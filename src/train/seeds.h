// One recipe under several initialisation seeds.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>

#include "train/trainer.h"

namespace rondo {

/// The runs of a recipe under several seeds.
struct SeedRuns {
  std::vector<fs::path> dirs;  ///< one per seed, `out`/seed-N
  Json summary;         ///< `runs[]`, and mean and sample SD of the losses over finished runs
  bool failed = false;  ///< a run diverged or failed
  bool interrupted = false;
};

/// Trains one run per seed, one after the other, in `options.out`/seed-N. A run that fails or
/// diverges is counted and the others go on; with `options.resume`, finished runs are passed over
/// and unfinished ones go on.
SeedRuns train_seeds(const Config& config, std::span<const std::int64_t> seeds,
                     const TrainOptions& options);

}  // namespace rondo
