// `rondo reproduce`: published tables again, the published numbers beside ours.
#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/reproduce_recurrence.h"
#include "cli/reproduce_rlt.h"
#include "plan/published.h"

namespace rondo {
namespace {

struct ReproduceArguments {
  std::string what, data, out = ".", scale, only;
  std::vector<std::string> tasks, models;
  std::int64_t starts = 500, bootstrap = 200, seed = 0, threads = 0, stop_after = 0;
  bool fits_asked = false;  // --starts, --bootstrap or --seed was given
  bool json = false;
};

/// Numbers that were compared in a study, and how many of them agree.
struct Count {
  std::size_t compared = 0, agree = 0;
};

TextTable counts_of(const PublishedTable& table) {
  std::vector<std::string> order;
  std::map<std::string, Count> counts;
  for (const auto& row : table.rows) {
    if (!counts.contains(row.study)) order.push_back(row.study);
    auto& count = counts[row.study];
    const auto agrees = row.agrees();
    count.compared += agrees ? 1 : 0;
    count.agree += agrees.value_or(false) ? 1 : 0;
  }
  TextTable text({"study", "published numbers", "agree", "differ"});
  for (const auto& study : order) {
    const auto& count = counts[study];
    text.add({study, std::to_string(count.compared), std::to_string(count.agree),
              std::to_string(count.compared - count.agree)});
  }
  return text;
}

PublishedTable tables_of(const ReproduceArguments& arguments) {
  Progress progress("reproduce");
  PublishedOptions options;
  options.starts = static_cast<int>(arguments.starts);
  options.bootstrap = static_cast<int>(arguments.bootstrap);
  options.chinchilla_bootstrap = static_cast<int>(5 * arguments.bootstrap);
  options.seed = static_cast<std::uint64_t>(arguments.seed);
  options.threads = static_cast<int>(arguments.threads);
  options.progress = [&progress](std::string_view what) {
    if (progress.due()) progress.update(what);
  };
  return published_laws(arguments.data, options);
}

void run_reproduce(const ReproduceArguments& arguments, int& status) {
  require(arguments.what == "laws" || arguments.data.empty(),
          "reproduce {}: --data is for laws; leave it out", arguments.what);
  require(arguments.what == "laws" || !arguments.fits_asked,
          "reproduce {}: --starts, --bootstrap and --seed are for laws; leave them out",
          arguments.what);
  require(arguments.what == "rlt" ||
              (arguments.tasks.empty() && arguments.models.empty() && arguments.stop_after == 0),
          "reproduce {}: --task, --model and --stop-after are for rlt; leave them out",
          arguments.what);
  if (arguments.what == "rlt")
    return reproduce_rlt({.scale = arguments.scale,
                          .only = arguments.only,
                          .tasks = arguments.tasks,
                          .models = arguments.models,
                          .stop_after = arguments.stop_after,
                          .out = arguments.out,
                          .threads = arguments.threads,
                          .json = arguments.json},
                         status);
  if (arguments.what == "recurrence")
    return reproduce_recurrence({.scale = arguments.scale,
                                 .only = arguments.only,
                                 .out = arguments.out,
                                 .threads = arguments.threads,
                                 .json = arguments.json},
                                status);
  require(arguments.what == "laws",
          "reproduce {}: this version has the tables of laws, of the RLT and of the recurrence: "
          "rondo reproduce laws --data DIR, rondo reproduce rlt --scale smoke",
          arguments.what);
  require(arguments.scale.empty() && arguments.only.empty(),
          "reproduce laws: --scale and --only are for trained tables; leave them out");
  require(!arguments.data.empty(),
          "reproduce laws: --data DIR is missing: the folder with scaling_laws/ and "
          "looped_results/");
  const auto table = tables_of(arguments);
  create_folder(arguments.out);
  const fs::path folder = arguments.out;
  write_file_atomically(folder / "laws.csv", to_csv(table));
  write_file_atomically(folder / "laws.md", to_markdown(table));
  write_file_atomically(folder / "laws.json", to_json(table).dump(1) + "\n");
  for (const auto& skipped : table.skipped) log("skipped: {}", skipped);
  if (arguments.json) {
    const Json written = {
        {"name", "laws"}, {"path", (folder / "laws.csv").string()}, {"rows", table.rows.size()}};
    return print_json({{"tables", Json::array({written})},
                       {"rule", agreement_rule()},
                       {"skipped", table.skipped}});
  }
  print_table(counts_of(table));
  print_text((folder / "laws.md").string());
}

}  // namespace

void declare_reproduce(CLI::App& app, int& status) {
  auto arguments = std::make_shared<ReproduceArguments>();
  auto* command =
      app.add_subcommand("reproduce", "Published tables again: laws fitted, models trained");
  command->add_option("WHAT", arguments->what, "laws, rlt or recurrence")
      ->required()
      ->check(CLI::IsMember({"laws", "truncation", "rlt", "recurrence"}));
  command->add_option("--data", arguments->data, "folder of published tables");
  command->add_option("--out", arguments->out, "folder to write to; default the current one");
  add_whole_number(*command, "--starts", arguments->starts, 1, 1000000,
                   "laws: random starts of each fit; default 500");
  add_whole_number(*command, "--bootstrap", arguments->bootstrap, 20, 100000,
                   "laws: refits for intervals; default 200, five times that for Chinchilla");
  add_whole_number(*command, "--seed", arguments->seed, 0, INT64_MAX,
                   "laws: of starts and resamples");
  add_whole_number(*command, "--threads", arguments->threads, 0, 4096, "default all cores");
  command->add_option("--scale", arguments->scale,
                      "rlt: smoke (a minute; default), cpu or paper (the whole protocol); "
                      "recurrence: smoke or cpu");
  command->add_option("--only", arguments->only,
                      "one table, with all its models. rlt: validation, longest, lengths, "
                      "feedback, steps, alpha, depth16; "
                      "recurrence: conditioning, windows");
  command
      ->add_option("--task", arguments->tasks,
                   "rlt: only these tasks of its tables, by commas: parity,s5-swaps")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--model", arguments->models,
                   "rlt: only these models, by commas: \"RLT-1 4+4,transformer 8\"")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_whole_number(*command, "--stop-after", arguments->stop_after, 1, INT64_MAX,
                   "rlt: step at which each run pauses; a later call goes on");
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer(
      "What is trained already is not trained again: a stopped call goes on when it is repeated.\n"
      "Example: rondo reproduce laws --data published --out results/laws\n"
      "         rondo reproduce rlt --scale smoke --out results/rlt-smoke\n"
      "         rondo reproduce rlt --scale paper --task parity --model \"RLT-1 4+4\" "
      "--stop-after 500 --out results/rlt\n"
      "         rondo reproduce recurrence --scale cpu --out results/recurrence-cpu");
  command->callback([arguments, command, &status] {
    for (const char* option : {"--starts", "--bootstrap", "--seed"})
      arguments->fits_asked = arguments->fits_asked || command->count(option) > 0;
    run_reproduce(*arguments, status);
  });
}

}  // namespace rondo
