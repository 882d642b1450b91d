// The program: reads the command line, runs one command, turns every exception into one message.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/program.h"
#include "tensor/tensor.h"

namespace rondo {
namespace {

/// A first word that is no command gets a better answer than "argument was not expected".
void refuse_unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  const std::string word = argv[1];
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands({})) names.push_back(command->get_name());
  for (const auto& name : names)
    if (name == word) return;
  const auto close = nearest(word, names);
  fail("unknown command {}{}; `rondo --help` lists the commands", word,
       close ? fmt::format("; did you mean {}?", *close) : "");
}

int run(int argc, char** argv) {
  int status = 0;
  CLI::App app;
  declare_program(app, status);
  refuse_unknown_command(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wish) {  // --help, --version
    return app.exit(wish);
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    fail("{}; see `rondo{} --help`", error.what(),
         chosen.empty() ? "" : " " + chosen.front()->get_name());
  }
  return status;
}

/// Runs and translates what may be thrown; the one place that knows other libraries' exceptions.
int guarded(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const Error& error) {
    log_line(fmt::format("rondo: {}", error.what()));
    return error.exit_status();
  } catch (const std::bad_alloc&) {
    log_line(
        "rondo: out of memory; lower train.micro_batch, data.sequence_length or the model's size");
    return 1;
  } catch (const std::exception& error) {
    log_line(fmt::format("rondo: internal error: {}; please report it", library_message(error)));
    return 1;
  }
}

}  // namespace
}  // namespace rondo

int main(int argc, char** argv) {
  rondo::set_command_line(argc, argv);
  rondo::catch_interrupts();
  rondo::keep_freed_memory();
  return rondo::guarded(argc, argv);
}
