// The table of sub-commands, and output that they share.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/machine.h"
#include "base/text.h"
#include "cli/command.h"
#include "config/range.h"
#include "tensor/tensor.h"

namespace rondo {
namespace {

constexpr std::array<DeclareCommand, 16> kCommands = {
    declare_quickstart, declare_info,      declare_train,    declare_eval,
    declare_diagnose,   declare_baselines, declare_fit,      declare_plan,
    declare_report,     declare_status,    declare_generate, declare_forward,
    declare_data,       declare_reproduce, declare_bench,    declare_docs};

std::string typed;

}  // namespace

std::span<const DeclareCommand> commands() { return kCommands; }

void set_command_line(int argc, char** argv) {
  typed = "rondo";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool plain = !word.empty() && word.find_first_of(" \t\n\"'\\$*?;&|<>()") == word.npos;
    typed += plain ? " " + word : " '" + word + "'";
  }
}

const std::string& command_line() { return typed; }

void add_whole_number(CLI::App& command, const std::string& name, std::int64_t& value,
                      std::int64_t low, std::int64_t high, const std::string& help) {
  const auto read = [name, &value, low, high](const std::string& text) {
    const auto numbers = parse_integers(text, name);
    require(numbers.size() == 1 && numbers[0] >= low && numbers[0] <= high,
            "{} {}: expected one whole number from {} to {}", name, text, low, high);
    value = numbers[0];
  };
  command.add_option_function<std::string>(name, read, help)->type_name("INT");
}

void add_threads(CLI::App& command, std::int64_t& threads) {
  add_whole_number(command, "--threads", threads, 1, static_cast<std::int64_t>(kThreads.high),
                   "threads; default all cores");
}

void use_threads(std::int64_t threads) {
  set_threads(threads > 0 ? static_cast<int>(threads) : available_cores());
}

std::pair<std::string, std::string> name_and_value(const std::string& option,
                                                   const std::string& text) {
  const auto equals = text.find('=');
  require(equals != text.npos && equals > 0 && equals + 1 < text.size(),
          "{} {}: expected NAME=VALUE", option, text);
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void print_json(const Json& json) {
  // A name of a file need not be UTF-8, and must not keep the rest from being said.
  print_text(json.dump(2, ' ', false, Json::error_handler_t::replace));
}

void print_table(const TextTable& table) {
  print_text(::isatty(STDOUT_FILENO) == 1 ? table.aligned() : table.tabbed());
}

void print_text(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  if (!text.empty() && text.back() != '\n') std::fputc('\n', stdout);
}

}  // namespace rondo
