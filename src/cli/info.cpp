// `rondo info`: counts and costs of a recipe or a model, without running it.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/shipped.h"
#include "cli/command.h"
#include "config/recipe.h"
#include "cost/describe.h"
#include "cost/parameters.h"
#include "data/task.h"
#include "eval/open_model.h"
#include "train/preflight.h"
#include "train/settle.h"

namespace rondo {
namespace {

struct InfoArguments {
  std::string target;
  Overrides set;
  bool json = false, keys = false, time = false, measure = false;
};

/// The config that `target` stands for: a recipe, a run, a checkpoint or a weights file.
Config find_config(const InfoArguments& arguments) {
  const fs::path path = find_shipped(arguments.target);
  const bool file = fs::exists(path) && !fs::is_directory(path);
  // Any file that does not call itself weights is read as a recipe, as `rondo train` does.
  if (path.extension() == ".toml" || (file && path.extension() != ".safetensors") ||
      fs::exists(path / "config.toml"))
    return read_recipe(path.string(), arguments.set);
  require(fs::exists(path), "{}: no such recipe or model", arguments.target);
  const auto weights = find_weights(path);
  const auto metadata = read_safetensors_metadata(weights);
  const auto found = metadata.find("rondo.config");
  require(found != metadata.end(), "{}: no rondo.config in its metadata", weights.string());
  return parse_recipe(found->second, weights.string() + " (rondo.config)", arguments.set);
}

void run_info(const InfoArguments& arguments) {
  if (arguments.keys) return print_text(recipe_reference());
  require(!arguments.target.empty(), "info: no RECIPE or MODEL given; see `rondo info --help`");
  auto config = find_config(arguments);
  // A file is data and not read; a name must be one.
  if (config.data.source == DataSource::kTask && !is_task_file(config.data.task))
    settle(*open_task(config.data.task),
           {.min = config.data.min_length, .max = config.data.max_length});
  DescribeOptions options;
  if (arguments.time) {
    config = settle(config, vocabulary_size(config));
    options.speed = measured_machine_speed(config.engine.threads, arguments.measure);
  }
  if (arguments.json) return print_json(describe(config, options));
  print_text(describe_text(config, options));
}

}  // namespace

void declare_info(CLI::App& app, int&) {
  auto arguments = std::make_shared<InfoArguments>();
  auto* command =
      app.add_subcommand("info", "Count and cost a recipe or a model without running it");
  command->add_option("RECIPE|MODEL", arguments->target,
                      "a recipe, a run, a checkpoint or a .safetensors file");
  command->add_option("--set", arguments->set, "override a key: --set loops.forward=8")
      ->allow_extra_args(false);
  command->add_flag("--keys", arguments->keys, "list every recipe key with default and meaning");
  auto* time = command->add_flag("--time", arguments->time,
                                 "estimate seconds; measures this machine once (three seconds)");
  command->add_flag("--measure", arguments->measure, "with --time: measure it again")->needs(time);
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer(
      "Example: rondo info recipes/looped-4x4.toml --set loops.backward=2\n"
      "Reads no data. FLOPs per token are matrix products; the formula is printed with its terms.\n"
      "Measurements are kept in $RONDO_CACHE, else $XDG_CACHE_HOME/rondo, else ~/.cache/rondo.");
  command->callback([arguments] { run_info(*arguments); });
}

}  // namespace rondo
