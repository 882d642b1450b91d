// Declaring the command line.
#include "cli/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/version.h"
#include "cli/command.h"

namespace rondo {
namespace {

/// Refuses values that a script leaves empty where a variable is not set, instead of taking the
/// default.
void refuse_empty_values(CLI::App& command) {
  for (auto* option : command.get_options())
    option->check(
        [](const std::string& value) { return value.empty() ? "the value is empty" : ""; });
  for (auto* part : command.get_subcommands({})) refuse_empty_values(*part);
}

}  // namespace

void declare_program(CLI::App& app, int& status) {
  app.name("rondo");
  app.description("Trains, evaluates and compares looped transformers.");
  app.set_version_flag("--version", fmt::format("rondo {}", kVersion));
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  app.footer(
      "Examples:\n"
      "  rondo quickstart                                   what looping does, in two minutes\n"
      "  rondo train recipes/looped-4x4.toml --out runs/a   train one model\n"
      "  rondo report runs/a                                its page\n"
      "`rondo COMMAND --help` says more about a command. Results go to stdout, the rest to "
      "stderr;\n"
      "exit status 0 done, 1 the work failed, 2 bad usage, config or input.");
  for (const auto declare : commands()) declare(app, status);
  for (auto* command : app.get_subcommands({})) refuse_empty_values(*command);
}

}  // namespace rondo
