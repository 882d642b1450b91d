// `rondo quickstart`: what looping does, over depth on real text and over tokens on parity, in a
// few minutes.
#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/shipped.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/quickstart_parity.h"
#include "config/recipe.h"
#include "cost/flops.h"
#include "record/table.h"
#include "report/report.h"
#include "train/seeds.h"

namespace rondo {
namespace {

/// One of the compared models: the quickstart recipe with these keys changed.
struct Variant {
  const char* name;
  Overrides set;
  const char* why;
};

const std::vector<Variant>& variants() {
  static const std::vector<Variant> list = {
      {"plain",
       {"loops.forward=1", "loops.backward=1", "model.injection=none", "model.loop_norm=false"},
       "four layers, each used once: the reference"},
      {"looped-2x2",
       {"loops.forward=2", "loops.backward=2"},
       "the same layers, the middle two run twice"},
      {"looped-4x4", {"loops.forward=4", "loops.backward=4"}, "run four times"},
      {"truncated-4x2",
       {"loops.forward=4", "loops.backward=2"},
       "run four times, the gradient through the last two only"},
  };
  return list;
}

struct QuickstartArguments {
  std::string out = "runs/quickstart";
  bool fast = false, resume = false, json = false;
};

/// The variant's recipe, its steps chosen so that all variants spend the plain model's training
/// FLOPs.
Config variant_config(const Variant& variant, const std::string& recipe, const Overrides& common,
                      double budget) {
  auto set = common;
  set.insert(set.end(), variant.set.begin(), variant.set.end());
  const auto config = read_recipe(recipe, set);
  if (budget == 0) return config;
  const double per_step = flops_per_token(config).train_matmul *
                          static_cast<double>(config.train.batch * config.data.sequence_length);
  set.push_back(fmt::format("train.steps={}", std::llround(budget / per_step)));
  return read_recipe(recipe, set);
}

double training_flops(const Config& config) {
  return flops_per_token(config).train_matmul *
         static_cast<double>(config.train.batch * config.data.sequence_length * config.train.steps);
}

void explain(const QuickstartArguments& arguments, const Config& plain) {
  log("Four models of {} parameters' width learn to predict textbook text byte by byte. Each gets "
      "the",
      plain.model.d_model);
  log("same training compute ({} FLOPs): who loops more sees less text. Then each runs at other "
      "loop",
      si(training_flops(plain)));
  log("counts than it was trained with. Two seeds each{}; the runs and the page go to {}.",
      arguments.fast ? ", in the short form of half a minute" : "", arguments.out);
}

/// Trains one model under each seed; false, with the status, when that did not come to its end.
bool train_variant(const QuickstartArguments& arguments, const std::string& folder,
                   const Config& config, const std::vector<std::int64_t>& seeds,
                   std::vector<RunRecord>& runs, int& status) {
  const auto done = train_seeds(config, seeds,
                                {.out = fs::path(arguments.out) / folder,
                                 .resume = arguments.resume,
                                 .init = {},
                                 .command = command_line(),
                                 .label = {}});
  if (done.interrupted || done.failed) {
    log("stopped; `rondo quickstart --out {} --resume` goes on", arguments.out);
    status = done.interrupted ? interrupt_exit_status() : 1;
    return false;
  }
  for (const auto& dir : done.dirs) runs.push_back(read_run(dir));
  return true;
}

/// The second part; false, with the status, when it did not come to its end.
bool run_parity(const QuickstartArguments& arguments, std::vector<RunRecord>& runs, int& status) {
  log("\nNow looping over tokens. Two small models learn whether up to 16 bits hold an odd number "
      "of ones;\nthen both get more bits than they ever saw. Guessing is right half of the time.");
  for (const auto& model : parity_models(arguments.fast)) {
    log("\n{}: {}", model.name, model.why);
    if (!train_variant(arguments, "parity/" + model.name, model.config, {42}, runs, status))
      return false;
  }
  return true;
}

void run_quickstart(const QuickstartArguments& arguments, int& status) {
  const auto recipe = find_shipped("recipes/quickstart.toml").string();
  Overrides common;
  if (arguments.fast) common = {"train.steps=60", "train.warmup_steps=10"};
  const auto plain = variant_config(variants().front(), recipe, common, 0);
  const double budget = training_flops(plain);
  explain(arguments, plain);

  const std::vector<std::int64_t> seeds = {42, 43};
  std::vector<RunRecord> runs;
  for (const auto& variant : variants()) {
    log("\n{}: {}", variant.name, variant.why);
    const auto config = variant_config(variant, recipe, common, budget);
    if (!train_variant(arguments, variant.name, config, seeds, runs, status)) return;
  }
  std::vector<RunRecord> parity;
  if (!run_parity(arguments, parity, status)) return;
  const auto table = make_run_table(std::move(runs));
  const std::vector<fs::path> dirs = {fs::path(arguments.out)};
  const auto page = write_report(dirs, {});
  if (arguments.json) {
    auto json = to_json(table);
    json["path"] = page.string();
    json["parity"] = to_json(make_run_table(parity));
    return print_json(json);
  }
  const auto lengths = parity_table(parity);
  log("");
  print_text(to_text(table).aligned());
  for (const auto& line : matches_text(table.matches)) log("{}", line);
  print_text("\n" + lengths.aligned());
  for (const auto& warning : table.warnings) log("note: {}", warning);
  log("\nThe page with loss curves, depth sweeps and accuracy over length: {}", page.string());
  log("Next: rondo info recipes/quickstart.toml; rondo train recipes/looped-4x4.toml --out "
      "runs/mine");
}

}  // namespace

void declare_quickstart(CLI::App& app, int& status) {
  auto arguments = std::make_shared<QuickstartArguments>();
  auto* command =
      app.add_subcommand("quickstart", "Train six small models and see what looping does");
  command->add_option("--out", arguments->out, "folder for runs and page; default runs/quickstart");
  command->add_flag("--fast", arguments->fast, "half a minute instead of two");
  command->add_flag("--resume", arguments->resume, "go on with an interrupted quickstart");
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer("Example: rondo quickstart");
  command->callback([arguments, &status] { run_quickstart(*arguments, status); });
}

}  // namespace rondo
