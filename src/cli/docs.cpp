// `rondo docs`: the reference pages that are made from the program itself.
#include <CLI/CLI.hpp>
#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/program.h"
#include "config/recipe.h"

namespace rondo {
namespace {

std::string commands_page() {
  int status = 0;
  CLI::App app;
  declare_program(app, status);
  std::string page =
      "# Commands\n\nMade by `rondo docs commands` from the program's own help; do not edit.\n\n"
      "```\n" +
      app.help() + "```\n";
  for (const auto* command : app.get_subcommands({})) {
    page +=
        fmt::format("\n## rondo {}\n\n```\n{}```\n", command->get_name(), command->help("rondo"));
    for (const auto* part : command->get_subcommands({}))
      page += fmt::format("\n### rondo {} {}\n\n```\n{}```\n", command->get_name(),
                          part->get_name(), part->help("rondo " + command->get_name()));
  }
  return page;
}

std::string recipe_page() {
  return "# Recipe keys\n\nMade by `rondo docs recipe` from the program's own table; do not edit.\n"
         "Precedence: defaults of `size` < the file < `--set key=value`.\n" +
         recipe_reference();
}

}  // namespace

void declare_docs(CLI::App& app, int&) {
  auto page = std::make_shared<std::string>();
  auto* command = app.add_subcommand("docs", "Print a reference page as Markdown");
  command->add_option("PAGE", *page, "commands or recipe")->required();
  command->footer("Example: rondo docs commands > docs/commands.md");
  command->callback([page] {
    require(*page == "commands" || *page == "recipe", "docs {}: expected commands or recipe",
            *page);
    print_text(*page == "commands" ? commands_page() : recipe_page());
  });
}

}  // namespace rondo
