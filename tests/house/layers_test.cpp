// The layering rule: a layer includes, and links, only what the table below allows it, directly or
// through those layers. libtorch is included in src/tensor and nowhere else.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/house/tree.h"

namespace rondo::house {
namespace {

using Layers = std::set<std::string>;

// Each layer with the layers right below it.
const std::map<std::string, Layers> kBelow = {
    {"base", {}},
    {"config", {"base"}},
    {"record", {"base", "config"}},
    {"cost", {"base", "config"}},
    {"tensor", {"base"}},
    {"nn", {"tensor", "base", "config"}},
    {"model", {"nn"}},
    {"data", {"base", "config", "tensor"}},
    {"dist", {"tensor", "base"}},
    {"eval", {"model", "data", "record"}},
    {"train", {"eval", "model", "data", "dist", "record", "cost"}},
    {"diagnose", {"model", "data", "eval", "record"}},
    {"law", {"record", "cost", "base"}},
    {"plan", {"law", "cost", "config", "base"}},
    {"sweep", {"plan", "record", "config", "base"}},
    {"report", {"record", "law", "plan", "base"}},
    {"serve", {"eval"}},
    {"cli", {"train", "diagnose", "sweep", "report", "serve"}},
};

// These work on run records and configs, build in seconds and never see a tensor.
const Layers kPlain = {"base", "config", "record", "cost", "law", "plan", "sweep", "report"};

Layers reachable(const std::string& layer) {
  Layers found = {layer};
  for (const auto& below : kBelow.at(layer)) found.merge(reachable(below));
  return found;
}

// Names after DEPENDS in a layer's CMakeLists.txt, up to the next keyword or the closing
// parenthesis.
std::vector<std::string> declared_dependencies(const SourceFile& file) {
  std::string text;
  for (const auto& line : file.lines) text += line.substr(0, line.find('#')) + "\n";
  std::smatch match;
  std::vector<std::string> names;
  if (!std::regex_search(text, match, std::regex("DEPENDS([^A-Z)]*)"))) return names;
  std::istringstream words(match[1].str());
  for (std::string word; words >> word;) names.push_back(word);
  return names;
}

bool is_code(const SourceFile& file) {
  return file.extension() == "h" || file.extension() == "cpp";
}

TEST(Layers, PlainLayersReachNoTensors) {
  for (const auto& layer : kPlain) {
    for (const auto& other : reachable(layer))
      EXPECT_TRUE(kPlain.contains(other)) << layer << " reaches " << other;
  }
}

TEST(Layers, EveryFolderIsInTheTable) {
  for (const auto& file : read_folder("src")) {
    EXPECT_TRUE(kBelow.contains(file.layer())) << file.path << ": no such layer in " << __FILE__;
  }
}

TEST(Layers, IncludesGoDownward) {
  const std::regex include(R"rx(^\s*#\s*include\s*"([^"/]*)(/?))rx");
  for (const auto& file : read_folder("src")) {
    if (!is_code(file) || !kBelow.contains(file.layer())) continue;
    const Layers allowed = reachable(file.layer());
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      std::smatch match;
      if (!std::regex_search(file.lines[i], match, include)) continue;
      const auto where = file.path + ":" + std::to_string(i + 1) + ": ";
      const std::string other = match[1].str();
      EXPECT_FALSE(match[2].str().empty()) << where << "write the include as \"layer/file.h\"";
      EXPECT_TRUE(kBelow.contains(other))
          << where << "headers from outside are written <" << other << "/…>";
      EXPECT_TRUE(!kBelow.contains(other) || allowed.contains(other))
          << where << file.layer() << " may not include " << other;
    }
  }
}

TEST(Layers, LinksGoDownward) {
  for (const auto& file : read_folder("src")) {
    if (!file.path.ends_with("/CMakeLists.txt") || !kBelow.contains(file.layer())) continue;
    const Layers allowed = reachable(file.layer());
    for (const auto& name : declared_dependencies(file)) {
      EXPECT_TRUE(allowed.contains(name))
          << file.path << ": " << file.layer() << " may not depend on " << name;
    }
  }
}

TEST(Layers, OnlyTensorIncludesLibtorch) {
  const std::regex include(R"rx(^\s*#\s*include\s*[<"](ATen|c10|torch|caffe2)/)rx");
  for (const auto& file : read_folder("src")) {
    if (!is_code(file) || file.layer() == "tensor") continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_FALSE(std::regex_search(file.lines[i], include))
          << file.path << ":" << i + 1 << ": include \"tensor/torch.h\" instead";
    }
  }
}

}  // namespace
}  // namespace rondo::house
