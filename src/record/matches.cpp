// What groups of a comparison have in common: depths and recipe.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "config/kinds.h"
#include "record/config_lines.h"
#include "record/table.h"

namespace rondo {
namespace {

constexpr std::size_t kMostKeys = 6;

/// Depth is compared by itself; the rest of these decide no number of a run.
bool outside_recipe(const std::string& key) {
  static const std::set<std::string> kKeys = {"seed",
                                              "size",
                                              "model.layout",
                                              "model.prelude_layers",
                                              "model.core_layers",
                                              "model.coda_layers",
                                              "model.encoder_layers",
                                              "model.decoder_layers",
                                              "loops.forward",
                                              "train.micro_batch",
                                              "train.validate_every",
                                              "train.checkpoint_every",
                                              "train.keep",
                                              "train.keep_best",
                                              "train.stop_after"};
  return kKeys.contains(key) || key.starts_with("engine.");
}

/// "10 layers in a, 18 in b and c", groups of one value together.
std::string values_text(const std::vector<std::pair<std::string, std::string>>& values) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> groups;
  for (const auto& [group, value] : values) {
    if (!groups.contains(value)) order.push_back(value);
    groups[value].push_back(group);
  }
  std::vector<std::string> parts;
  for (const auto& value : order)
    parts.push_back(fmt::format("{} in {}", value, join(groups[value], " and ")));
  return join(parts, ", ");
}

class Matcher {
 public:
  explicit Matcher(const RunTable& table) : table_(table) {}

  std::vector<Match> all() {
    depth("physical depth",
          [&](const RunGroup& group) { return layers_text(group.physical_depth); });
    depth("effective depth in training", [](const RunGroup& group) {
      auto text = layers_text(group.effective_depth);
      if (text.empty() || group.sampler == word(Sampler::kFixed) || group.sampler.empty())
        return text;
      return fmt::format("{} ({})", text, group.sampler);
    });
    depth("effective depth at inference", [&](const RunGroup& group) { return inference(group); });
    recipe();
    return std::move(out_);
  }

 private:
  static std::string layers_text(double depth) {
    return std::isnan(depth) ? "" : fmt::format("{}", depth);
  }

  [[nodiscard]] const RunRecord& first(const RunGroup& group) const {
    return table_.runs[group.runs.front()];
  }

  template <typename Text>
  void depth(const char* what, const Text& text) {
    std::vector<std::pair<std::string, std::string>> values;
    std::set<std::string> distinct;
    for (const auto& group : table_.groups) {
      values.emplace_back(group.name, text(group));
      distinct.insert(values.back().second);
      if (values.back().second.empty()) values.back().second = "not recorded";
    }
    const bool equal = distinct.size() == 1 && !distinct.contains("");
    out_.push_back(
        {what, equal, equal ? fmt::format("{} layers", *distinct.begin()) : values_text(values)});
  }

  /// Depth of the losses in the table, and those of the sweep at the end.
  [[nodiscard]] std::string inference(const RunGroup& group) const {
    const auto& run = first(group);
    if (!run.config) return {};
    const auto at = [&](std::int64_t loops) {
      auto config = *run.config;
      config.loops.forward = loops;
      return effective_depth(config);
    };
    const auto scored = at(run.config->loops.forward);
    const auto& sweep = run.depth_sweep();
    if (sweep.size() > 1) {
      const auto [low, high] = std::ranges::minmax(sweep, {}, &DepthPoint::loops);
      return fmt::format("{} (sweep from {} to {})", scored, at(low.loops), at(high.loops));
    }
    return fmt::format("{}", scored);
  }

  void recipe() {
    std::vector<std::string> keys;
    std::vector<std::map<std::string, std::string>> values;
    for (const auto& group : table_.groups) {
      auto& of_group = values.emplace_back();
      for (auto& [key, value] : config_lines(first(group).config_text)) {
        if (outside_recipe(key)) continue;
        if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
        // Models that back-propagate all of their loops share that, however many they have.
        const bool all = key == "loops.backward" && group.backward_loops >= group.loops;
        of_group.emplace(key, all ? "all" : value);
      }
    }
    std::vector<std::string> differing;
    for (const auto& key : keys) {
      std::vector<std::pair<std::string, std::string>> of_key;
      std::set<std::string> distinct;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto at = values[i].find(key);
        of_key.emplace_back(table_.groups[i].name, at == values[i].end() ? "absent" : at->second);
        distinct.insert(of_key.back().second);
      }
      if (distinct.size() > 1)
        differing.push_back(fmt::format("{} is {}", key, values_text(of_key)));
    }
    const auto count = differing.size();
    if (count > kMostKeys) {
      differing.resize(kMostKeys);
      differing.push_back(fmt::format("and {} more", count - kMostKeys));
    }
    out_.push_back({"recipe", count == 0 && !keys.empty(),
                    count > 0      ? join(differing, "; ")
                    : keys.empty() ? "not recorded"
                                   : "all keys but seed and depth"});
  }

  const RunTable& table_;
  std::vector<Match> out_;
};

}  // namespace

std::vector<Match> comparison_matches(const RunTable& table) {
  return table.groups.size() < 2 ? std::vector<Match>{} : Matcher(table).all();
}

std::vector<std::string> matches_text(const std::vector<Match>& matches) {
  std::vector<std::string> equal, lines;
  for (const auto& match : matches) {
    if (match.equal)
      equal.push_back(fmt::format("{} ({})", match.what, match.text));
    else
      lines.push_back(fmt::format("Different {}: {}.", match.what, match.text));
  }
  if (!equal.empty()) lines.insert(lines.begin(), fmt::format("Equal: {}.", join(equal, ", ")));
  return lines;
}

}  // namespace rondo
