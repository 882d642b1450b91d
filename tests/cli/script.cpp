// Reads a .test file line by line into steps.
#include "tests/cli/script.h"

#include <fmt/format.h>

#include <fstream>
#include <string_view>

namespace rondo::cli_test {
namespace {

class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  std::vector<Step> read() {
    std::ifstream in(path_);
    if (!in) throw ScriptError(fmt::format("{}: cannot be read", path_));
    for (std::string text; std::getline(in, text);) {
      ++line_;
      read_line(text);
    }
    return std::move(steps_);
  }

 private:
  void read_line(std::string text) {
    if (text.empty() || text.front() == '#') return;
    if (text.front() == '|') return add_content(text);
    const std::string word = take_word(text);
    if (word == "$") {
      steps_.push_back(
          {.line = line_, .file_name = {}, .content = {}, .command = text, .checks = {}});
    } else if (word == "write") {
      steps_.push_back(
          {.line = line_, .file_name = text, .content = {}, .command = {}, .checks = {}});
    } else if (word == "exit") {
      command().exit_status = std::stoi(text);
    } else {
      add_check(word, text);
    }
  }

  void add_content(std::string_view text) {
    if (steps_.empty() || steps_.back().file_name.empty()) fail("'|' without a 'write' before it");
    text.remove_prefix(text.starts_with("| ") ? 2 : 1);
    steps_.back().content.append(text).append("\n");
  }

  void add_check(std::string word, std::string text) {
    const bool negated = word == "no";
    if (negated) word = take_word(text);
    if (word != "out" && word != "err" && word != "file" && word != "json") {
      fail(fmt::format("'{}' is no word of this format; README.md beside it lists them", word));
    }
    command().checks.push_back({.line = line_, .negated = negated, .subject = word, .rest = text});
  }

  Step& command() {
    if (steps_.empty() || steps_.back().command.empty())
      fail("a check without a command before it");
    return steps_.back();
  }

  [[noreturn]] void fail(std::string_view what) const {
    throw ScriptError(fmt::format("{}:{}: {}", path_, line_, what));
  }

  std::string path_;
  int line_ = 0;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<Step> read_script(const std::string& path) { return Reader(path).read(); }

std::string take_word(std::string& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  std::string word = text.substr(0, end);
  text.erase(0, std::min(text.find_first_not_of(' ', end), text.size()));
  return word;
}

}  // namespace rondo::cli_test
