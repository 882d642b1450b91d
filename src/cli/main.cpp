// The program: reads the command line, runs one command, turns every exception into one message.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "base/error.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/program.h"
#include "tensor/arena.h"
#include "tensor/tensor.h"

namespace rondo {
namespace {

/// A first word that is no command gets a better answer than "argument was not expected"; so does
/// the word after a command that has commands of its own.
void refuse_unknown_command(const CLI::App& app, int argc, char** argv) {
  const CLI::App* at = &app;
  std::string words;
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
    std::vector<std::string> names;
    const CLI::App* chosen = nullptr;
    for (const auto* command : at->get_subcommands({})) {
      names.push_back(command->get_name());
      if (names.back() == argv[i]) chosen = command;
    }
    if (names.empty()) return;
    const auto close = nearest(argv[i], names);
    if (chosen == nullptr)
      fail("unknown command {}{}{}; `rondo{} --help` lists the commands", words, one_line(argv[i]),
           close ? fmt::format("; did you mean {}?", *close) : "",
           words.empty() ? "" : " " + at->get_name());
    words += chosen->get_name() + " ";
    at = chosen;
  }
}

/// The sub-commands that were chosen: " data pack".
std::string chosen_command(const CLI::App& app) {
  std::string words;
  for (const auto* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    words += " " + at->get_name();
  }
  return words;
}

[[noreturn]] void refuse(const CLI::App& app, const CLI::ParseError& error) {
  fail("{}; see `rondo{} --help`", error.what(), chosen_command(app));
}

/// Names an option that does not exist and the nearest that does; returns when what was too much is
/// not an option.
void refuse_unknown_option(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  std::vector<std::string> names;
  for (const auto* option : command->get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  for (const auto& word : app.remaining(/*recurse=*/true)) {
    if (!word.starts_with("-")) continue;
    const auto close = nearest(word, names);
    fail("unknown option {}{}; see `rondo{} --help`", one_line(word),
         close ? fmt::format("; did you mean {}?", *close) : "", chosen_command(app));
  }
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
  } catch (const CLI::ExtrasError& error) {
    refuse_unknown_option(app);
    refuse(app, error);
  } catch (const CLI::ParseError& error) {
    refuse(app, error);
  }
  return status;
}

/// Results that did not reach stdout are a failure, however well the work went.
int flushed(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  log_line(fmt::format("rondo: stdout: cannot be written ({})", std::strerror(errno)));
  return status == 0 ? 1 : status;
}

/// Runs and translates what may be thrown; the one place that knows other libraries' exceptions.
int guarded(int argc, char** argv) {
  try {
    return flushed(run(argc, argv));
  } catch (const Error& error) {
    log_line(fmt::format("rondo: {}", error.what()));
    return error.exit_status();
  } catch (const std::bad_alloc&) {
    log_line(
        "rondo: out of memory; lower train.micro_batch, data.sequence_length or the model's size");
    return 1;
  } catch (const fs::filesystem_error& error) {  // a path too long to ask about, and the like
    log_line(
        fmt::format("rondo: {}: {}", one_line(error.path1().string()), error.code().message()));
    return 2;
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
