// Reads the source tree as text for the house rules.
#include "tests/house/tree.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

namespace rondo::house {
namespace {

namespace fs = std::filesystem;

SourceFile read_file(const fs::path& path) {
  SourceFile file{.path = path.generic_string(), .lines = {}};
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) file.lines.push_back(line);
  return file;
}

void sort_by_path(std::vector<SourceFile>& files) {
  std::ranges::sort(files, {}, &SourceFile::path);
}

}  // namespace

std::string SourceFile::extension() const {
  const std::string dotted = fs::path(path).extension().string();
  return dotted.empty() ? dotted : dotted.substr(1);
}

std::string SourceFile::layer() const {
  const fs::path parts(path);
  auto part = parts.begin();
  if (part == parts.end() || *part != "src" || std::distance(part, parts.end()) < 3) return "";
  return std::next(part)->string();
}

std::vector<SourceFile> read_folder(const std::string& folder) {
  std::vector<SourceFile> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(read_file(entry.path()));
  }
  sort_by_path(files);
  return files;
}

std::vector<SourceFile> read_repository() {
  static constexpr std::array kFolders = {".ci",     "bench",   "cmake", "data",  "docs", "python",
                                          "recipes", "results", "src",   "tests", "tools"};
  std::vector<SourceFile> files;
  for (const char* folder : kFolders) {
    for (auto& file : read_folder(folder)) files.push_back(std::move(file));
  }
  for (const auto& entry : fs::directory_iterator(".")) {
    if (entry.is_regular_file()) files.push_back(read_file(entry.path().filename()));
  }
  sort_by_path(files);
  return files;
}

}  // namespace rondo::house
