// Declaring them, and opening a model by them.
#include "cli/model_options.h"

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "eval/loss.h"

namespace rondo {
namespace {

/// More tokens than any text between two feedbacks of an RLT.
constexpr std::int64_t kMostInterval = std::int64_t{1} << 40;

}  // namespace

void add_model(CLI::App& command, ModelOptions& options) {
  command.add_option("MODEL", options.model, "a run, a checkpoint or a .safetensors file")
      ->required();
}

void add_model_choice(CLI::App& command, ModelOptions& options) {
  command.add_option("--timestep-grid", options.grid,
                     "of a model with timesteps, another grid than its recipe's: rescaled or "
                     "prefix");
  command.add_flag("--best", options.best, "of a run, the checkpoint of lowest validation loss");
}

void add_feedback_interval(CLI::App& command, ModelOptions& options) {
  add_whole_number(command, "--feedback-interval", options.interval, 0, kMostInterval,
                   "of an RLT, another interval than the one it was trained with last");
}

OpenedModel open_model(const ModelOptions& options, bool loops_given) {
  auto opened = open_model(options.model, options.best);
  refuse_loops_of_rlt(opened.stored.config, loops_given);
  if (options.interval >= 0) {
    set_feedback_interval(opened.stored.model, options.interval, "--feedback-interval");
    opened.stored.config.model.feedback_interval = options.interval;
  }
  if (options.grid) choose_timestep_grid(opened.stored, *options.grid);
  return opened;
}

}  // namespace rondo
