// `rondo eval`: loss and bits per byte of a model for several loop counts.
#include <CLI/CLI.hpp>
#include <memory>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/machine.h"
#include "base/shipped.h"
#include "base/text.h"
#include "cli/command.h"
#include "data/dataset.h"
#include "eval/loss.h"
#include "eval/open_model.h"
#include "nlohmann/json.hpp"

namespace rondo {
namespace {

struct EvalArguments {
  std::string model, loops, split = "validation", data;
  std::vector<std::string> tasks = {"text"};
  std::int64_t tokens = 0, threads = 0;
  bool best = false, json = false;
};

std::vector<std::int64_t> loops_of(const EvalArguments& arguments, const Config& config) {
  if (arguments.loops.empty())
    return config.loops.forward == 1 && config.loops.sampler == Sampler::kFixed
               ? std::vector<std::int64_t>{1}
               : depth_sweep_loops(config.loops.forward);
  auto loops = parse_integers(arguments.loops, "--loops");
  for (const auto r : loops) check_loops(r);
  std::sort(loops.begin(), loops.end());
  loops.erase(std::unique(loops.begin(), loops.end()), loops.end());
  return loops;
}

/// The sequences of a split: "validation", "train", or all of a file given with --data.
ValidationSet sequences(const EvalArguments& arguments, const Dataset& data,
                        const DataConfig& config) {
  if (arguments.split == "validation") return data.validation;
  require(arguments.split == "train", "--split {}: expected validation or train", arguments.split);
  return ValidationSet(data.training.view(), data.tokenizer,
                       {config.sequence_length, config.document_mask}, config.path);
}

void run_eval(const EvalArguments& arguments, int& status) {
  for (const auto& task : arguments.tasks)
    require(task == "text", "--task {}: not available in this version; expected text", task);
  const auto opened = open_model(arguments.model, arguments.best);
  auto config = opened.stored.config;
  if (!arguments.data.empty()) config.data.path = arguments.data;
  set_threads(arguments.threads > 0 ? static_cast<int>(arguments.threads) : available_cores());
  const auto loops = loops_of(arguments, config);
  const auto data = open_dataset(config.data);
  require(data.tokenizer->vocab() <= config.model.vocab,
          "{}: its vocabulary of {} is smaller than the tokenizer's {}", opened.file.string(),
          config.model.vocab, data.tokenizer->vocab());
  const auto chosen = sequences(arguments, data, config.data).spread(arguments.tokens);
  const auto points = evaluate_loss(opened.stored.model, chosen, loops);
  if (points.empty()) {
    status = interrupt_exit_status();
    return;
  }
  Json rows = Json::array();
  TextTable table({"task", "split", "loops", "loss_nats", "stderr", "bits_per_byte", "trained"});
  const bool fixed = config.loops.sampler == Sampler::kFixed;
  for (const auto& point : points) {
    const bool trained =
        fixed ? point.loops == config.loops.forward : point.loops <= config.loops.max;
    const Json common = {{"task", "text"},
                         {"loops", point.loops},
                         {"length", config.data.sequence_length},
                         {"split", arguments.split}};
    // A byte drawn blindly costs log of the vocabulary.
    const double chance_nats = std::log(static_cast<double>(data.tokenizer->vocab()));
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
    table.add({"text", arguments.split, std::to_string(point.loops),
               fmt::format("{:.4f}", point.loss_nats), fmt::format("{:.4f}", point.stderr_nats),
               fmt::format("{:.4f}", point.bits_per_byte), trained ? "yes" : "no"});
  }
  if (arguments.json) return print_json({{"rows", rows}});
  print_text(table.tabbed());
}

}  // namespace

void declare_eval(CLI::App& app, int& status) {
  auto arguments = std::make_shared<EvalArguments>();
  auto* command =
      app.add_subcommand("eval", "Loss and bits per byte on held-out text, per loop count");
  command->add_option("MODEL", arguments->model, "a run, a checkpoint or a .safetensors file")
      ->required();
  command->add_option("--task", arguments->tasks, "what to evaluate; default text")
      ->allow_extra_args(false);
  command->add_option("--loops", arguments->loops,
                      "loop counts: 1,2,4; default 1 … 4 loops.forward for a looped model");
  command->add_option("--split", arguments->split, "validation (default) or train");
  command->add_option("--data", arguments->data, "text or shards to read instead of the run's own");
  command->add_option("--tokens", arguments->tokens, "use at most so many tokens; default all");
  command->add_option("--threads", arguments->threads, "threads; default all cores");
  command->add_flag("--best", arguments->best,
                    "of a run, the checkpoint of lowest validation loss");
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer("Example: rondo eval runs/a --loops 1,2,4,8,16");
  command->callback([arguments, &status] { run_eval(*arguments, status); });
}

}  // namespace rondo
