// The table of sub-commands, and output that they share.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/command.h"

namespace rondo {
namespace {

constexpr std::array<DeclareCommand, 10> kCommands = {
    declare_quickstart, declare_info,   declare_train,   declare_eval, declare_baselines,
    declare_report,     declare_status, declare_forward, declare_data, declare_docs};

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

void print_json(const Json& json) { fmt::print("{}\n", json.dump(2)); }

void print_text(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  if (!text.empty() && text.back() != '\n') std::fputc('\n', stdout);
}

}  // namespace rondo
