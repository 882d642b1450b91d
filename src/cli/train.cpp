// `rondo train`: trains a recipe, under one seed or several.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/shipped.h"
#include "base/text.h"
#include "cli/command.h"
#include "config/recipe.h"
#include "record/state.h"
#include "record/table.h"
#include "report/report.h"
#include "train/dry_run.h"
#include "train/seeds.h"

namespace rondo {
namespace {

struct TrainArguments {
  std::string recipe, out, seeds, init;
  std::int64_t profile_steps = 0;
  Overrides set;
  bool resume = false, dry_run = false, profile = false, json = false;
};

/// Exit status of a run that ended with this reason.
int status_of(const std::string& stop_reason) {
  if (stop_reason == kStopInterrupted) return interrupt_exit_status();
  return stop_reason == kStopDiverged || stop_reason == kStopFailed ? 1 : 0;
}

void print_runs(const std::vector<fs::path>& dirs) {
  std::vector<RunRecord> runs;
  for (const auto& dir : dirs) runs.push_back(read_run(dir));
  const auto table = make_run_table(std::move(runs));
  print_text(to_text(table).aligned());
  for (const auto& line : matches_text(table.matches)) log("{}", line);
  for (const auto& warning : table.warnings) log("note: {}", warning);
}

/// Writes the page of a run, or of the runs below a folder. A run is not lost for want of a page.
void write_page(const fs::path& dir) {
  try {
    write_report(std::vector{dir}, {});
  } catch (const Error& error) {
    log("note: no page was written: {}", error.what());
  }
}

void train_several(const Config& config, const TrainArguments& arguments,
                   const TrainOptions& options, int& status) {
  const auto result = train_seeds(config, parse_integers(arguments.seeds, "--seeds"), options);
  status = result.interrupted ? interrupt_exit_status() : result.failed ? 1 : 0;
  for (const auto& dir : result.dirs) write_page(dir);
  write_page(options.out);
  if (arguments.json) return print_json(result.summary);
  print_runs(result.dirs);
}

void run_train(const TrainArguments& arguments, int& status) {
  const auto recipe = find_shipped(arguments.recipe);
  const auto config = read_recipe(recipe.string(), arguments.set);
  const fs::path out =
      arguments.out.empty() ? fs::path("runs") / recipe.stem() : fs::path(arguments.out);
  require(arguments.profile || arguments.profile_steps == 0,
          "--profile-steps without --profile: nothing would be profiled; give both");
  if (arguments.dry_run) {
    const auto plan = plan_training(config, out);
    return arguments.json ? print_json(plan) : print_text(plan["text"].get<std::string>());
  }
  TrainOptions options{
      .out = out, .resume = arguments.resume, .init = {}, .command = command_line(), .label = {}};
  if (!arguments.init.empty()) options.init = arguments.init;
  if (arguments.profile) options.profile = arguments.profile_steps;
  if (!arguments.seeds.empty()) return train_several(config, arguments, options, status);

  const auto summary = train(config, options);
  status = status_of(summary["stop_reason"]);
  write_page(out);
  if (summary.contains("message"))
    log("{}: {}", out.string(), summary["message"].get<std::string>());
  if (status > 128)
    log("{}: saved after step {}; --resume continues", out.string(),
        summary["steps"].get<std::int64_t>());
  if (arguments.json) return print_json(summary);
  print_runs({out});
}

}  // namespace

void declare_train(CLI::App& app, int& status) {
  auto arguments = std::make_shared<TrainArguments>();
  auto* command = app.add_subcommand("train", "Train a recipe");
  command->add_option("RECIPE", arguments->recipe, "a recipe, or a run whose recipe to use")
      ->required();
  command->add_option("--set", arguments->set, "override a key: --set train.steps=200")
      ->allow_extra_args(false);
  command->add_option("--out", arguments->out, "run folder; default runs/<recipe>");
  command->add_flag("--resume", arguments->resume, "go on from the last checkpoint, bit for bit");
  command->add_flag("--dry-run", arguments->dry_run, "say what it would cost, and stop");
  command->add_option("--seeds", arguments->seeds, "one run per seed in OUT/seed-N: 42,43,44");
  command->add_option("--init", arguments->init, "start from this model's weights");
  command->add_flag("--profile", arguments->profile, "say where the time of a step goes");
  add_whole_number(*command, "--profile-steps", arguments->profile_steps, 1, 1'000'000'000,
                   "steps to profile, the first one left out; default all");
  command->add_flag("--json", arguments->json, "print the summary as one JSON object");
  command->footer(
      "Ctrl-C finishes the step, saves and stops; --resume goes on.\n"
      "Example: rondo train recipes/looped-4x4.toml --out runs/a --seeds 42,43");
  command->callback([arguments, &status] { run_train(*arguments, status); });
}

}  // namespace rondo
