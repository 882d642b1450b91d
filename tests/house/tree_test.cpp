// Rules for every file: length, a first comment that says what the file is for, no paths of one
// machine.
#include "tests/house/tree.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <string>
#include <vector>

namespace rondo::house {
namespace {

constexpr std::size_t kLongestFile = 500;
constexpr std::size_t kLongestHeader = 150;

// How a first comment may begin, by extension. Other kinds of file are data and need none.
const std::map<std::string, std::string> kFirstComment = {
    {"h", "// "},   {"cpp", "// "}, {"txt", "# "}, {"cmake", "# "},
    {"test", "# "}, {"toml", "# "}, {"sh", "#"},   {"py", "\"\"\"|# |#!"},
};

std::vector<SourceFile> sources_and_tests() {
  auto files = read_folder("src");
  for (auto& file : read_folder("tests")) files.push_back(std::move(file));
  return files;
}

TEST(Tree, TestsRunInTheRoot) {
  ASSERT_FALSE(read_folder("src").empty()) << "run in the repository's root";
}

TEST(Tree, FilesAreShort) {
  for (const auto& file : sources_and_tests()) {
    const auto kind = file.extension();
    if (kind != "h" && kind != "cpp") continue;
    const auto most = kind == "h" ? kLongestHeader : kLongestFile;
    EXPECT_LE(file.lines.size(), most) << file.path << ": split it; one file has one subject";
  }
}

TEST(Tree, FilesBeginByTellingWhatTheyAreFor) {
  for (const auto& file : sources_and_tests()) {
    const auto comment = kFirstComment.find(file.extension());
    // A text file that is no CMakeLists.txt is data.
    const bool is_data = file.extension() == "txt" && !file.path.ends_with("CMakeLists.txt");
    if (comment == kFirstComment.end() || is_data) continue;
    const std::string first = file.lines.empty() ? "" : file.lines.front();
    if (std::regex_search(first, std::regex("^(" + comment->second + ")"))) continue;
    ADD_FAILURE() << file.path << ": its first line is no comment that says what the file is for";
  }
}

TEST(Tree, NoPathsOfOneMachine) {
  const std::regex machine_path(R"rx((^|[\s"'`=(:,])/(home|root|Users|work|mnt|tmp|data)/\w)rx");
  for (const auto& file : read_repository()) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const auto& line = file.lines[i];
      // Lines of that length are data, and std::regex recurses once per character.
      if (line.size() > 2000) continue;
      EXPECT_FALSE(std::regex_search(line, machine_path))
          << file.path << ":" << i + 1 << ": " << line;
    }
  }
}

}  // namespace
}  // namespace rondo::house
