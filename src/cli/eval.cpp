// `rondo eval`: loss and bits per byte of a model for several loop counts.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/machine.h"
#include "base/shipped.h"
#include "base/text.h"
#include "cli/command.h"
#include "cost/loops.h"
#include "data/corpus.h"
#include "data/dataset.h"
#include "data/shards.h"
#include "data/split.h"
#include "data/text.h"
#include "eval/loss.h"
#include "eval/open_model.h"

namespace rondo {
namespace {

struct EvalArguments {
  std::string model, data;
  std::optional<std::string> loops, split;
  std::vector<std::string> tasks = {"text"};
  std::int64_t tokens = 0, threads = 0;
  std::int64_t interval = -1;  ///< −1 = not given
  bool best = false, json = false;
};

std::vector<std::int64_t> loops_of(const EvalArguments& arguments, const Config& config) {
  if (!arguments.loops) return default_loops(config);
  auto loops = parse_integers(*arguments.loops, "--loops");
  for (const auto r : loops) check_loops(r);
  std::sort(loops.begin(), loops.end());
  loops.erase(std::unique(loops.begin(), loops.end()), loops.end());
  return loops;
}

/// Sequences to evaluate, and what they are called in the rows.
struct Chosen {
  ValidationSet sequences;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::string split;
};

/// All of what --data names.
Chosen whole_of(const std::string& path, const DataConfig& config) {
  const auto tokenizer = open_tokenizer(config.tokenizer);
  const auto found = find_shipped(path);
  const auto store = config.source == DataSource::kText
                         ? load_text(text_files(found), *tokenizer, path)
                         : open_shards(shard_files(found), *tokenizer);
  return {ValidationSet(TokenView(store, whole_stream(*store)), tokenizer,
                        {config.sequence_length, config.document_mask}, path),
          tokenizer, "all"};
}

Chosen choose(const EvalArguments& arguments, const DataConfig& config) {
  if (!arguments.data.empty()) return whole_of(arguments.data, config);
  const auto data = open_dataset(config);
  const auto split = arguments.split.value_or("validation");
  if (split == "validation") return {data.validation, data.tokenizer, split};
  return {ValidationSet(data.training.view(), data.tokenizer,
                        {config.sequence_length, config.document_mask}, config.path),
          data.tokenizer, split};
}

/// What can be refused before anything is read.
void check(const EvalArguments& arguments) {
  for (const auto& task : arguments.tasks)
    require(task == "text", "--task {}: not available in this version; expected text", task);
  if (!arguments.split) return;
  require(*arguments.split == "validation" || *arguments.split == "train",
          "--split {}: expected validation or train", *arguments.split);
  require(arguments.data.empty(), "--split {} with --data: all of --data is read; give one of them",
          *arguments.split);
}

void run_eval(const EvalArguments& arguments, int& status) {
  check(arguments);
  auto opened = open_model(arguments.model, arguments.best);
  refuse_loops_of_rlt(opened.stored.config, arguments.loops.has_value());
  if (arguments.interval >= 0)
    set_feedback_interval(opened.stored.model, arguments.interval, "--feedback-interval");
  const auto& config = opened.stored.config;
  set_threads(arguments.threads > 0 ? static_cast<int>(arguments.threads) : available_cores());
  const auto loops = loops_of(arguments, config);
  const auto [all, tokenizer, split] = choose(arguments, config.data);
  require(tokenizer->vocab() <= config.model.vocab,
          "{}: its vocabulary of {} is smaller than the tokenizer's {}", opened.file.string(),
          config.model.vocab, tokenizer->vocab());
  const auto chosen = all.spread(arguments.tokens);
  const auto points = evaluate_loss(opened.stored.model, chosen, loops);
  if (points.empty()) {
    status = interrupt_exit_status();
    return;
  }
  Json rows = Json::array();
  TextTable table({"task", "split", "loops", "loss_nats", "stderr", "bits_per_byte", "trained"});
  const bool fixed = config.loops.sampler == Sampler::kFixed;
  const auto most = static_cast<std::int64_t>(largest_loops(config.loops).forward);
  for (const auto& point : points) {
    const bool trained = fixed ? point.loops == config.loops.forward : point.loops <= most;
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
  if (arguments.json) return print_json({{"rows", rows}});
  print_table(table);
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
  add_whole_number(*command, "--feedback-interval", arguments->interval, 0, kMostInterval,
                   "of an RLT, another interval than the one it was trained with last");
  command->add_option("--split", arguments->split, "validation (default) or train");
  command->add_option("--data", arguments->data,
                      "text or shards to evaluate, all of it, instead of the run's own");
  add_whole_number(*command, "--tokens", arguments->tokens, 1, std::int64_t{1} << 60,
                   "use at most so many tokens, evenly spread; default all");
  add_whole_number(*command, "--threads", arguments->threads, 1,
                   static_cast<std::int64_t>(kThreads.high), "threads; default all cores");
  command->add_flag("--best", arguments->best,
                    "of a run, the checkpoint of lowest validation loss");
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer("Example: rondo eval runs/a --loops 1,2,4,8,16");
  command->callback([arguments, &status] { run_eval(*arguments, status); });
}

}  // namespace rondo
