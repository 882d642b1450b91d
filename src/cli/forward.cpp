// `rondo forward`: one forward pass to a file.
#include "eval/forward.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/model_options.h"
#include "config/range.h"

namespace rondo {
namespace {

struct ForwardArguments {
  ModelOptions model;
  std::string tokens, out;
  std::int64_t loops = 0;  ///< 0 = not given
  bool json = false;
};

void run_forward(const ForwardArguments& arguments) {
  const auto tokens = parse_integers(arguments.tokens, "--tokens");
  require(!fs::is_directory(arguments.out), "--out {}: is a folder; expected a file to write",
          arguments.out);
  const auto opened = open_model(arguments.model, arguments.loops > 0);
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
  add_model(*command, arguments->model);
  command->add_option("--tokens", arguments->tokens, "token ids: 1,2,3")->required();
  add_whole_number(*command, "--loops", arguments->loops, static_cast<std::int64_t>(kLoops.low),
                   static_cast<std::int64_t>(kLoops.high),
                   "loops to run; default: loops.forward of the model");
  add_feedback_interval(*command, arguments->model);
  command->add_option("--out", arguments->out, "safetensors file to write")->required();
  add_model_choice(*command, arguments->model);
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer(
      "Writes logits [T, V] and states [r + 1, T, D], fp32: the state before the first loop and "
      "after\n"
      "each, before the coda. Of an RLT states is [1, T, D].\n"
      "Example: rondo forward runs/a --tokens 72,101,108,108,111 --loops 8 --out pass.safetensors");
  command->callback([arguments] { run_forward(*arguments); });
}

}  // namespace rondo
