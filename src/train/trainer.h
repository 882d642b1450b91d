// One training run from a recipe to its summary.
#pragma once

#include <optional>
#include <string>

#include "base/files.h"
#include "base/json.h"
#include "config/config.h"

namespace rondo {

/// What a run is asked to do besides its recipe.
struct TrainOptions {
  fs::path out;                  ///< the run folder
  bool resume = false;           ///< go on from the last checkpoint in `out`
  std::optional<fs::path> init;  ///< start from the weights of this MODEL
  std::string command;           ///< the command line, for the record
  std::string label;             ///< stands before progress lines
  /// Say where a step's time goes, over so many steps; 0 = all of them, nothing = do not.
  std::optional<std::int64_t> profile{};
};

/// Trains `config` (resolved) into `options.out`; returns summary.json. Ends early, saved, on
/// Ctrl-C (stop_reason "interrupted"), at train.stop_after ("stop_after") and on a non-finite loss
/// or gradient ("diverged", with the last good checkpoint left as it is). Throws errors for
/// everything that keeps it from starting.
Json train(const Config& config, const TrainOptions& options);

}  // namespace rondo
