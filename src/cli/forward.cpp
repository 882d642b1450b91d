// `rondo forward`: one forward pass to a file.
#include "eval/forward.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "config/range.h"
#include "eval/loss.h"

namespace rondo {
namespace {

struct ForwardArguments {
  std::string model, tokens, out;
  std::int64_t loops = 0;      ///< 0 = not given
  std::int64_t interval = -1;  ///< −1 = not given
  std::optional<std::string> grid;
  bool best = false, json = false;
};

void run_forward(const ForwardArguments& arguments) {
  const auto tokens = parse_integers(arguments.tokens, "--tokens");
  require(!fs::is_directory(arguments.out), "--out {}: is a folder; expected a file to write",
          arguments.out);
  auto opened = open_model(arguments.model, arguments.best);
  refuse_loops_of_rlt(opened.stored.config, arguments.loops > 0);
  if (arguments.interval >= 0)
    set_feedback_interval(opened.stored.model, arguments.interval, "--feedback-interval");
  if (arguments.grid) choose_timestep_grid(opened.stored, *arguments.grid);
  const auto loops = arguments.loops > 0 ? arguments.loops : opened.stored.config.loops.forward;
  const auto result = write_forward(opened.stored, tokens, loops, arguments.out);
  const Json loss = result.loss_nats ? Json(*result.loss_nats) : Json();
  if (arguments.json) return print_json({{"path", arguments.out}, {"loss_nats", loss}});
  print_text(result.loss_nats ? fmt::format("{}\t{:.6f} nats", arguments.out, *result.loss_nats)
                              : arguments.out);
}

}  // namespace

void declare_forward(CLI::App& app, int&) {
  auto arguments = std::make_shared<ForwardArguments>();
  auto* command =
      app.add_subcommand("forward", "Write one forward pass (logits, states) to a file");
  command->add_option("MODEL", arguments->model, "a run, a checkpoint or a .safetensors file")
      ->required();
  command->add_option("--tokens", arguments->tokens, "token ids: 1,2,3")->required();
  add_whole_number(*command, "--loops", arguments->loops, static_cast<std::int64_t>(kLoops.low),
                   static_cast<std::int64_t>(kLoops.high),
                   "loops to run; default: loops.forward of the model");
  add_whole_number(*command, "--feedback-interval", arguments->interval, 0, kMostInterval,
                   "of an RLT, another interval than the one it was trained with last");
  command->add_option(
      "--timestep-grid", arguments->grid,
      "of a model with timesteps, another grid than its recipe's: rescaled or prefix");
  command->add_option("--out", arguments->out, "safetensors file to write")->required();
  command->add_flag("--best", arguments->best,
                    "of a run, the checkpoint of lowest validation loss");
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer(
      "Writes logits [T, V] and states [r + 1, T, D], fp32: the state before the first loop and "
      "after\n"
      "each, before the coda. Of an RLT states is [1, T, D].\n"
      "Example: rondo forward runs/a --tokens 72,101,108,108,111 --loops 8 --out pass.safetensors");
  command->callback([arguments] { run_forward(*arguments); });
}

}  // namespace rondo
