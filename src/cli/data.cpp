// `rondo data pack`: text to token shards.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/shipped.h"
#include "base/text.h"
#include "cli/command.h"
#include "data/pack.h"

namespace rondo {
namespace {

struct PackArguments {
  std::vector<std::string> inputs;
  std::string out, name = "tokens", tokenizer = "bytes";
  std::int64_t shard_tokens = static_cast<std::int64_t>(PackOptions{}.shard_tokens);
  bool json = false;
};

void run_pack(const PackArguments& arguments) {
  PackOptions options{.inputs = {},
                      .out = arguments.out,
                      .name = arguments.name,
                      .shard_tokens = static_cast<std::uint64_t>(arguments.shard_tokens)};
  for (const auto& input : arguments.inputs) options.inputs.push_back(find_shipped(input));
  Progress progress("pack");
  const auto result =
      pack(options, *open_tokenizer(arguments.tokenizer), [&](const PackProgress& now) {
        if (interrupt_signal() != 0) fail_work("stopped; no shards were written");
        if (progress.due())
          progress.update(fmt::format("{} of {}, {} documents",
                                      bytes(static_cast<double>(now.bytes)),
                                      bytes(static_cast<double>(now.total_bytes)), now.documents));
      });
  Json shards = Json::array();
  for (const auto& shard : result.shards) shards.push_back(shard.string());
  if (arguments.json)
    return print_json({{"tokens", result.tokens},
                       {"documents", result.documents},
                       {"bytes", result.bytes},
                       {"shards", shards}});
  print_text(fmt::format("{} tokens, {} documents, {} bytes in {} shards below {}", result.tokens,
                         result.documents, result.bytes, result.shards.size(), arguments.out));
}

}  // namespace

void declare_data(CLI::App& app, int&) {
  auto arguments = std::make_shared<PackArguments>();
  auto* data = app.add_subcommand("data", "Prepare data");
  data->require_subcommand(1);
  data->footer("Example: rondo data pack books/ --out books-tokens");
  auto* command =
      data->add_subcommand("pack", "Turn text or JSONL into memory-mapped token shards");
  command->add_option("INPUT", arguments->inputs, "text files, *.jsonl files, folders")->required();
  command->add_option("--out", arguments->out, "folder for the shards")->required();
  command->add_option("--name", arguments->name,
                      "shards are called NAME-00000.rondo; default tokens");
  command->add_option("--tokenizer", arguments->tokenizer, "default bytes");
  add_whole_number(*command, "--shard-tokens", arguments->shard_tokens, 1, std::int64_t{1} << 40,
                   "tokens after which a new shard begins");
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer(
      "Documents are files, or what a line <|endoftext|> separates, or lines of a *.jsonl file "
      "with a\n"
      "string `text`. Use the result with data.source = \"tokens\" and data.path = OUT.\n"
      "Example: rondo data pack books/ --out books-tokens");
  command->callback([arguments] { run_pack(*arguments); });
  declare_data_task(*data);
}

}  // namespace rondo
