// `rondo eval`: loss and bits per byte, or the scores of tasks, of a model for several loop counts.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/eval_task.h"
#include "cli/model_options.h"
#include "cli/text_choice.h"
#include "cost/loops.h"
#include "eval/loss.h"
#include "eval/task_eval.h"

namespace rondo {
namespace {

struct EvalArguments {
  ModelOptions model;
  std::string data;
  std::optional<std::string> loops, lengths, split;
  std::vector<std::string> tasks;  ///< empty: what the model was trained on
  std::int64_t tokens = 0, examples = 0, threads = 0;
  bool json = false;

  [[nodiscard]] TextRequest text() const { return {.data = data, .split = split}; }
};

std::vector<std::int64_t> loops_of(const EvalArguments& arguments, const Config& config,
                                   const std::string& task) {
  if (!arguments.loops) return task == "text" ? default_loops(config) : task_loops(config);
  auto loops = parse_integers(*arguments.loops, "--loops");
  for (const auto r : loops) check_loops(r);
  std::sort(loops.begin(), loops.end());
  loops.erase(std::unique(loops.begin(), loops.end()), loops.end());
  return loops;
}

/// What can be refused before anything is read.
void check(const EvalArguments& arguments) {
  if (!arguments.data.empty()) check(arguments.text());
}

/// The same, once it is known what the model was trained on.
void check(const EvalArguments& arguments, const std::string& task, const DataConfig& config) {
  if (task == "text") {
    check(arguments.text());
    require(!arguments.lengths && arguments.examples == 0,
            "--lengths and --examples are for tasks; leave them out, or give --task NAME");
    require(
        config.source != DataSource::kTask || !arguments.data.empty(),
        "--task text: this model was trained on a task and its recipe names no text; give --data "
        "PATH");
    return;
  }
  require(
      arguments.data.empty() && arguments.tokens == 0,
      "--data and --tokens are for text; leave them out for --task {}, which takes --lengths and "
      "--examples",
      task);
}

/// Adds the rows of text to `rows` and `table`; false when an interrupt is wished.
bool score_text(const EvalArguments& arguments, const OpenedModel& opened,
                std::span<const std::int64_t> loops, Json& rows, TextTable& table) {
  const auto& config = opened.stored.config;
  const auto [all, tokenizer, split] = choose_text(arguments.text(), config.data, opened);
  const auto chosen = all.spread(arguments.tokens);
  const auto points = evaluate_loss(opened.stored.model, chosen, loops);
  const auto fewest = smallest_loops(config.loops);
  const auto most = static_cast<std::int64_t>(largest_loops(config.loops).forward);
  for (const auto& point : points) {
    const bool trained = point.loops >= fewest && point.loops <= most;
    const Json common = {{"task", "text"},
                         {"loops", point.loops},
                         {"length", config.data.sequence_length},
                         {"split", split}};
    // A byte drawn blindly costs log of the vocabulary.
    const double chance_nats = std::log(static_cast<double>(tokenizer->vocab()));
    const auto add = [&](const char* metric, double value, double error, double chance) {
      Json row = common;
      row.update({{"metric", metric},
                  {"value", value},
                  {"stderr", error},
                  {"chance", chance},
                  {"examples", chosen.windows()},
                  {"tokens", point.tokens},
                  {"trained", trained}});
      rows.push_back(row);
    };
    const double per_nat = point.bits_per_byte / point.loss_nats;
    add("loss_nats", point.loss_nats, point.stderr_nats, chance_nats);
    add("bits_per_byte", point.bits_per_byte, point.stderr_nats * per_nat, chance_nats * per_nat);
    table.add({"text", split, std::to_string(point.loops), fmt::format("{:.4f}", point.loss_nats),
               fmt::format("{:.4f}", point.stderr_nats), fmt::format("{:.4f}", point.bits_per_byte),
               trained ? "yes" : "no"});
  }
  return !points.empty();
}

void run_eval(const EvalArguments& arguments, int& status) {
  check(arguments);
  const auto opened = open_model(arguments.model, arguments.loops.has_value());
  const auto& config = opened.stored.config;
  use_threads(arguments.threads);
  auto tasks = arguments.tasks;
  if (tasks.empty())
    tasks = {config.data.source == DataSource::kTask ? config.data.task : std::string("text")};
  Json rows = Json::array(), task_rows = Json::array();
  TextTable text({"task", "split", "loops", "loss_nats", "stderr", "bits_per_byte", "trained"});
  for (const auto& task : tasks) check(arguments, task, config.data);
  for (const auto& task : tasks) {
    const auto loops = loops_of(arguments, config, task);
    if (task == "text") {
      if (score_text(arguments, opened, loops, rows, text)) continue;
    } else if (const auto scored = score_task(opened,
                                              {.task = task,
                                               .lengths = arguments.lengths,
                                               .split = arguments.split,
                                               .examples = arguments.examples},
                                              loops)) {
      for (const auto& row : *scored) task_rows.push_back(row);
      continue;
    }
    status = interrupt_exit_status();
    return;
  }
  const bool has_text = !rows.empty();
  for (auto& row : task_rows) rows.push_back(row);
  if (arguments.json) return print_json({{"rows", rows}});
  if (has_text) print_table(text);
  if (!task_rows.empty()) print_task_rows(task_rows);
}

}  // namespace

void declare_eval(CLI::App& app, int& status) {
  auto arguments = std::make_shared<EvalArguments>();
  auto* command = app.add_subcommand(
      "eval", "Loss and bits per byte on held-out text, or scores of tasks, per loop count");
  add_model(*command, arguments->model);
  command
      ->add_option("--task", arguments->tasks,
                   "text, a task (docs/tasks.md) or a *.jsonl file; default what it was trained on")
      ->allow_extra_args(false);
  command->add_option("--loops", arguments->loops,
                      "loop counts: 1,2,4; default 1 … 4 loops.forward for a looped model");
  add_feedback_interval(*command, arguments->model);
  command->add_option("--lengths", arguments->lengths,
                      "of a task's examples: 32,40; default those of the recipe");
  add_whole_number(*command, "--examples", arguments->examples, 1, 1'000'000,
                   "of a task, per length; default those of the recipe");
  command->add_option("--split", arguments->split,
                      "text: validation (default) or train; tasks: test (default) or validation");
  command->add_option("--data", arguments->data,
                      "text or shards to evaluate, all of it, instead of the run's own");
  add_whole_number(*command, "--tokens", arguments->tokens, 1, std::int64_t{1} << 60,
                   "use at most so many tokens, evenly spread; default all");
  add_threads(*command, arguments->threads);
  add_model_choice(*command, arguments->model);
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer(
      "Example: rondo eval runs/a --loops 1,2,4,8,16\n"
      "         rondo eval runs/parity --best --lengths 40,80,160");
  command->callback([arguments, &status] { run_eval(*arguments, status); });
}

}  // namespace rondo
