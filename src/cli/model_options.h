// The options that every command with a MODEL has in common, declared and carried out alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "eval/open_model.h"

namespace CLI {
class App;
}

namespace rondo {

/// Which model, and what to change in it.
struct ModelOptions {
  std::string model;
  std::int64_t interval = -1;       ///< --feedback-interval; −1 = not given
  std::optional<std::string> grid;  ///< --timestep-grid
  bool best = false;
};

/// Declares MODEL.
void add_model(CLI::App& command, ModelOptions& options);
/// Declares --timestep-grid and --best.
void add_model_choice(CLI::App& command, ModelOptions& options);
/// Declares --feedback-interval.
void add_feedback_interval(CLI::App& command, ModelOptions& options);

/// Opens the model and changes it as asked for. Throws input errors; `loops_given` says whether
/// --loops was, which an RLT has not.
OpenedModel open_model(const ModelOptions& options, bool loops_given);

}  // namespace rondo
