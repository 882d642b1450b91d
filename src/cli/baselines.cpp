// `rondo baselines`: the matched non-looped recipes of a looped one.
#include "cost/baselines.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/shipped.h"
#include "base/text.h"
#include "cli/command.h"
#include "config/recipe.h"

namespace rondo {
namespace {

struct BaselinesArguments {
  std::string recipe, out = ".";
  Overrides set;
  bool json = false, force = false;
};

void run_baselines(const BaselinesArguments& arguments) {
  const auto path = find_shipped(arguments.recipe);
  const auto baselines = matched_baselines(read_recipe(path.string(), arguments.set));
  const auto stem = fs::is_directory(path) ? path.filename().string() : path.stem().string();
  create_folder(arguments.out);
  Json list = Json::array();
  TextTable table({"match", "path", "parameters", "flops_per_token", "error", "changed"});
  for (const auto& baseline : baselines) {
    const fs::path file =
        fs::path(arguments.out) / fmt::format("{}-equal-{}.toml", stem, baseline.match);
    const auto text =
        fmt::format("# A plain transformer matched to {} by {}: {}\n{}", arguments.recipe,
                    baseline.match, baseline.how, to_toml(baseline.config));
    require(arguments.force || !fs::exists(file) || read_file(file) == text,
            "{}: is there already and differs; choose another --out, or --force to replace it",
            file.string());
    write_file_atomically(file, text);
    list.push_back({{"match", baseline.match},
                    {"path", file.string()},
                    {"parameters", baseline.parameters},
                    {"flops_per_token", std::llround(baseline.flops_per_token)},
                    {"target", baseline.target},
                    {"achieved", baseline.achieved},
                    {"relative_error", baseline.relative_error}});
    table.add({baseline.match, file.string(), std::to_string(baseline.parameters),
               si(baseline.flops_per_token),
               fmt::format("{:+.2f} %", 100 * baseline.relative_error), baseline.how});
  }
  if (arguments.json) return print_json({{"recipes", list}});
  print_table(table);
}

}  // namespace

void declare_baselines(CLI::App& app, int&) {
  auto arguments = std::make_shared<BaselinesArguments>();
  auto* command = app.add_subcommand(
      "baselines",
      "Write the plain transformers that match a looped recipe in parameters, FLOPs, KV");
  command->add_option("RECIPE", arguments->recipe, "a recipe or a run")->required();
  command->add_option("--set", arguments->set, "override a key first")->allow_extra_args(false);
  command->add_option("--out", arguments->out, "folder to write to; default the current one");
  command->add_flag("--force", arguments->force, "replace files that differ");
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer("Example: rondo baselines recipes/looped-4x4.toml --out matched");
  command->callback([arguments] { run_baselines(*arguments); });
}

}  // namespace rondo
