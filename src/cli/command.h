// What a sub-command is to the program: a function that declares it. One file each, one line each
// in the table of commands.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/text.h"

namespace CLI {
class App;
}

namespace rondo {

/// Adds a sub-command to `app`. Its callback does the work and stores the exit status in `status`,
/// which outlives the parsing.
using DeclareCommand = void (*)(CLI::App& app, int& status);

/// All sub-commands, in the order of the help.
std::span<const DeclareCommand> commands();

/// The command line as it was typed, for records.
void set_command_line(int argc, char** argv);
const std::string& command_line();

/// Adds an option that takes one whole number from `low` to `high`. The parser's own numbers would
/// read 010 as 8 and cut what is beyond 64 bits.
void add_whole_number(CLI::App& command, const std::string& name, std::int64_t& value,
                      std::int64_t low, std::int64_t high, const std::string& help);

/// Adds --threads; `threads` is 0 when it is not given.
void add_threads(CLI::App& command, std::int64_t& threads);
/// Computes with so many threads, or with all cores for 0.
void use_threads(std::int64_t threads);

/// "name=value" in its two halves. Throws an input error that names the option.
std::pair<std::string, std::string> name_and_value(const std::string& option,
                                                   const std::string& text);

/// Prints one JSON object on stdout.
void print_json(const Json& json);
/// Prints a table on stdout: columns lined up for a terminal, tabs for a program.
void print_table(const TextTable& table);
/// Prints text on stdout.
void print_text(const std::string& text);

void declare_info(CLI::App& app, int& status);
void declare_train(CLI::App& app, int& status);
void declare_eval(CLI::App& app, int& status);
void declare_diagnose(CLI::App& app, int& status);
void declare_forward(CLI::App& app, int& status);
void declare_generate(CLI::App& app, int& status);
void declare_baselines(CLI::App& app, int& status);
void declare_bench(CLI::App& app, int& status);
void declare_fit(CLI::App& app, int& status);
void declare_plan(CLI::App& app, int& status);
void declare_reproduce(CLI::App& app, int& status);
void declare_report(CLI::App& app, int& status);
void declare_status(CLI::App& app, int& status);
void declare_data(CLI::App& app, int& status);
/// Part of `data`.
void declare_data_task(CLI::App& data);
void declare_quickstart(CLI::App& app, int& status);
void declare_docs(CLI::App& app, int& status);

}  // namespace rondo
