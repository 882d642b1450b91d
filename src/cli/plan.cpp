// `rondo plan`: what to train under a fitted law and a budget.
#include "plan/plan.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/shipped.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/runs.h"
#include "config/recipe.h"
#include "cost/parameters.h"
#include "cost/time.h"
#include "law/catalogue.h"
#include "law/fit_record.h"
#include "law/raw_table.h"
#include "train/preflight.h"
#include "train/settle.h"

namespace rondo {
namespace {

constexpr std::int64_t kMostLoops = 1000;
constexpr std::int64_t kAbsent = -1;

struct PlanArguments {
  std::vector<std::string> sources, columns;
  std::string law, recipe, write_recipe;
  Overrides set;
  Limits limits;
  std::optional<double> flops, seconds, gflops, bytes_per_parameter, inference_tokens;
  std::int64_t loops = kAbsent, backward_loops = kAbsent, loops_max = kAbsent,
               loop_budget = kAbsent;
  bool json = false, force = false;
};

/// 1e9 FLOPs a second at which this machine trains the recipe, from a measurement that is made
/// once.
double measured_gflops(const Config& recipe) {
  const auto config = settle(recipe, vocabulary_size(recipe));
  return sustained_gflops(config, config.model.vocab, config.train.micro_batch,
                          measured_machine_speed(config.engine.threads, false));
}

/// C from --flops, or from --seconds and a speed: the one place where a budget becomes FLOPs.
/// `gflops` is set to the speed that was used.
double budget_flops(const PlanArguments& arguments, const std::optional<Config>& recipe,
                    double& gflops_used) {
  const auto &flops = arguments.flops, &seconds = arguments.seconds, &gflops = arguments.gflops;
  require(!(flops && seconds), "--flops and --seconds both set the budget; give one of them");
  require(!seconds || gflops || recipe,
          "--seconds needs --gflops, the speed that training sustains, or --recipe, whose speed "
          "here is measured");
  require(!gflops || seconds, "--gflops is the speed that goes with --seconds; give both");
  require(flops || seconds, "plan: no budget; give --flops, or --seconds with --gflops");
  if (flops) return *flops;
  gflops_used = gflops ? *gflops : measured_gflops(*recipe);
  return *seconds * gflops_used * 1e9;
}

void check_recipe_options(const PlanArguments& arguments) {
  const bool recipe = !arguments.recipe.empty();
  require(recipe || arguments.write_recipe.empty(),
          "--write-recipe needs --recipe, the recipe whose width is scaled");
  require(recipe || arguments.set.empty(), "--set changes --recipe; there is none");
  require(!(recipe && arguments.limits.memory_max && arguments.bytes_per_parameter),
          "--bytes-per-parameter and --recipe are two memory models; give one of them");
}

void write_recipe(const PlanArguments& arguments, const PlannedRecipe& recipe, const Plan& plan) {
  const fs::path path = arguments.write_recipe;
  const auto text = fmt::format(
      "# {} scaled by `rondo plan` to {} parameters and {} tokens under the law {}, {:.4g} "
      "FLOPs\n{}",
      arguments.recipe, si(recipe.parameters), si(recipe.tokens), plan.law, plan.limits.flops,
      to_toml(recipe.config));
  require(arguments.force || !fs::exists(path) || read_file(path) == text,
          "{}: is there already and differs; choose another --write-recipe, or --force to replace "
          "it",
          path.string());
  write_file_atomically(path, text);
}

/// The limits with what the parser keeps apart from them.
Limits limits_of(const PlanArguments& arguments, double flops) {
  const auto given = [](std::int64_t value) {
    return value == kAbsent ? std::nullopt : std::optional(value);
  };
  Limits limits = arguments.limits;
  limits.flops = flops;
  limits.inference_tokens = arguments.inference_tokens.value_or(0);
  limits.bytes_per_parameter = arguments.bytes_per_parameter.value_or(limits.bytes_per_parameter);
  limits.loops = given(arguments.loops);
  limits.backward_loops = given(arguments.backward_loops);
  limits.loops_max = given(arguments.loops_max);
  limits.loop_budget = given(arguments.loop_budget);
  return limits;
}

/// The law in FIT.json, or the one fitted here and now to the tables that were given.
FittedLaw law_of(const PlanArguments& arguments) {
  if (arguments.sources.empty()) {
    require(arguments.columns.empty(), "--column maps columns of tables; there are none");
    return read_fit(arguments.law);
  }
  const auto form = find_law(arguments.law);
  Progress progress("fit");
  FitOptions options{.bootstrap = 200};
  options.progress = fit_progress(progress);
  const auto table = read_runs(arguments.sources, arguments.columns, {&form, 1}, false);
  const auto fit = fit_law(form, table, options);
  for (const auto& note : fit.notes) log("note: {}", note);
  log("fitted {} to {} runs: RMSE {:.4f} nats; `rondo fit` says more", form.name, fit.fitted.points,
      fit.fitted.rmse_nats);
  return fitted_law(fit, "the fit of " + arguments.law);
}

void run_plan(const PlanArguments& arguments) {
  check_recipe_options(arguments);
  std::optional<Config> recipe;
  if (!arguments.recipe.empty())
    recipe = read_recipe(find_shipped(arguments.recipe).string(), arguments.set);
  require(!recipe || recipe->model.kind == ModelKind::kLooped,
          "{}: model.kind = \"rlt\": plans are made over loops, which an RLT has not; expected a "
          "looped recipe",
          arguments.recipe);
  double gflops = 0;
  const Limits limits = limits_of(arguments, budget_flops(arguments, recipe, gflops));
  const auto plan = make_plan(law_of(arguments), limits, recipe ? &*recipe : nullptr);
  std::optional<PlannedRecipe> planned;
  if (recipe) planned = plan_recipe(*recipe, plan.best.front().setting, limits);
  if (!arguments.write_recipe.empty()) write_recipe(arguments, *planned, plan);
  if (arguments.json) {
    Json json = to_json(plan);
    if (arguments.seconds) json["budget"] = {{"seconds", *arguments.seconds}, {"gflops", gflops}};
    json["budget"]["flops"] = limits.flops;
    if (planned) json["recipe"] = to_json(*planned, plan);
    if (!arguments.write_recipe.empty()) json["recipe"]["path"] = arguments.write_recipe;
    return print_json(json);
  }
  if (arguments.seconds)
    log("{} at {:.4g} GFLOP/s are {:.4g} FLOPs", duration(*arguments.seconds), gflops,
        limits.flops);
  print_text(plan_text(plan));
  if (planned) print_text("\n" + recipe_text(*planned, plan));
  if (!arguments.write_recipe.empty()) log("wrote {}", arguments.write_recipe);
}

/// Adds an option that takes one real number above 0, such as 1e21; with `zero` 0 is one too.
void add_real(CLI::App& command, const std::string& name, std::optional<double>& value,
              const std::string& help, bool zero = false) {
  const auto read = [name, &value, zero](const std::string& text) {
    const auto number = parse_number(text);
    require(number && std::isfinite(*number) && (*number > 0 || (zero && *number == 0)),
            "{} {}: expected one number {}, such as {}", name, one_line(text),
            zero ? "from 0" : "above 0", name == "--recurrent-share" ? "0.42" : "1e9");
    value = *number;
  };
  command.add_option_function<std::string>(name, read, help)->type_name("NUMBER");
}

void add_budget(CLI::App& command, PlanArguments& arguments) {
  add_real(command, "--flops", arguments.flops, "the budget C: matrix FLOPs of training");
  add_real(command, "--seconds", arguments.seconds,
           "the budget as time; with --gflops, or the measured speed of --recipe");
  add_real(command, "--gflops", arguments.gflops, "1e9 FLOPs a second that training sustains");
  add_real(command, "--inference-tokens", arguments.inference_tokens,
           "C also pays for this many tokens of inference", true);
}

void add_limits(CLI::App& command, PlanArguments& arguments) {
  Limits& limits = arguments.limits;
  add_whole_number(command, "--loops", arguments.loops, 1, kMostLoops, "loops T, exactly");
  add_whole_number(command, "--backward-loops", arguments.backward_loops, 0, kMostLoops,
                   "loops B that are back-propagated, exactly; 0 = all");
  add_whole_number(command, "--loops-max", arguments.loops_max, 1, kMostLoops,
                   "largest T; default the largest fitted");
  add_whole_number(command, "--loop-budget", arguments.loop_budget, 1, 3 * kMostLoops,
                   "T + 2B, exactly: the cost of looping");
  add_real(command, "--parameters", limits.parameters, "n_total, exactly; never with embeddings");
  add_real(command, "--parameters-max", limits.parameters_max, "largest n_total");
  add_real(command, "--memory-max", limits.memory_max, "largest memory of training, bytes");
  add_real(command, "--bytes-per-parameter", arguments.bytes_per_parameter,
           "what --memory-max counts for a parameter; default 16");
  add_real(command, "--tokens-max", limits.tokens_max, "largest number of tokens");
  add_real(command, "--unique-tokens", limits.unique_tokens,
           "tokens there are; more are repeated (law data-constrained)");
  add_real(command, "--recurrent-share", limits.recurrent_share,
           "n_rec / n_total; default from the fit", true);
}

void add_recipe(CLI::App& command, PlanArguments& arguments) {
  command.add_option("--recipe", arguments.recipe,
                     "scale this recipe to the plan; its memory model stands behind --memory-max");
  command.add_option("--set", arguments.set, "override a key of the recipe first")
      ->allow_extra_args(false);
  command.add_option("--write-recipe", arguments.write_recipe, "file for the scaled recipe");
  command.add_flag("--force", arguments.force, "replace a file that differs");
}

}  // namespace

void declare_plan(CLI::App& app, int&) {
  auto arguments = std::make_shared<PlanArguments>();
  auto* command = app.add_subcommand(
      "plan", "Find the size, tokens and loops that a fitted law makes of a budget");
  command->add_option("TABLE|RUNS", arguments->sources, "runs to fit --law to first");
  command
      ->add_option("--law", arguments->law,
                   "what `rondo fit --json` printed; with runs the name of a law or a form")
      ->required();
  command->add_option("--column", arguments->columns, "our column = yours: loss=final_loss")
      ->allow_extra_args(false);
  add_budget(*command, *arguments);
  add_limits(*command, *arguments);
  add_recipe(*command, *arguments);
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer(
      "Example: rondo plan --law fit.json --flops 1e21 --parameters-max 1e9\n"
      "From runs in one go: rondo plan runs.csv --law joint --flops 1e21\n"
      "Limits are at most; --loops, --backward-loops, --loop-budget and --parameters are exact.\n"
      "FLOPs are 6 n_once + 2 (T + 2B) n_rec a token. docs/planning.md says how to read a plan.");
  command->callback([arguments] { run_plan(*arguments); });
}

}  // namespace rondo
