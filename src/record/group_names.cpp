// Short names for runs and groups, from their folders.
#include <algorithm>
#include <cctype>

#include "record/table.h"
#include "record/utf8.h"

namespace rondo {
namespace {

fs::path clean(const fs::path& dir) {
  std::error_code error;
  fs::path path = fs::absolute(dir, error).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

constexpr std::string_view kSeparators = "-_./ =";

/// Separators at the ends carry no meaning once the seed is gone.
std::string without_ends(std::string_view text) {
  const auto first = text.find_first_not_of(kSeparators);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kSeparators) - first + 1));
}

/// The name without a trailing seed and the word before it; `marked` tells whether the word "seed"
/// stood there. The name itself when it does not end in the seed.
std::string without_seed(std::string_view name, const std::string& seed, bool& marked) {
  marked = false;
  if (seed.empty() || !name.ends_with(seed)) return std::string(name);
  std::string_view rest = name.substr(0, name.size() - seed.size());
  // "run-142" does not end in the seed 42.
  if (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest.back())) != 0)
    return std::string(name);
  while (!rest.empty() && kSeparators.find(rest.back()) != std::string_view::npos)
    rest.remove_suffix(1);
  for (const std::string_view word : {"seed", "Seed", "s"}) {
    if (!rest.ends_with(word)) continue;
    const std::string_view before = rest.substr(0, rest.size() - word.size());
    if (!before.empty() && kSeparators.find(before.back()) == std::string_view::npos) continue;
    marked = word != "s";
    return without_ends(before);
  }
  return without_ends(rest);
}

std::string common_prefix(std::span<const std::string> names) {
  std::string prefix = names.front();
  for (const auto& name : names) {
    const auto [at, other] = std::mismatch(prefix.begin(), prefix.end(), name.begin(), name.end());
    prefix.erase(at, prefix.end());
  }
  const auto cut = prefix.find_last_of(kSeparators);
  const bool whole = std::find(names.begin(), names.end(), prefix) != names.end();
  if (!whole && cut != std::string::npos) prefix.resize(cut);
  return without_ends(prefix);
}

}  // namespace

std::vector<std::string> run_names(std::span<const RunRecord> runs) {
  std::vector<fs::path> paths;
  for (const auto& run : runs) paths.push_back(clean(run.dir));
  if (paths.empty()) return {};
  fs::path shared = paths.front().parent_path();
  for (const auto& path : paths)
    while (!std::equal(shared.begin(), shared.end(), path.begin(),
                       std::next(path.begin(), std::min(std::distance(shared.begin(), shared.end()),
                                                        std::distance(path.begin(), path.end())))))
      shared = shared.parent_path();
  std::vector<std::string> names;
  for (const auto& path : paths) {
    const std::string name = path.lexically_relative(shared).string();
    names.push_back(with_valid_utf8(name == "." || name.empty() ? path.filename().string() : name));
  }
  return names;
}

std::string group_name(std::span<const std::string> names, std::span<const std::string> seeds) {
  std::vector<std::string> bare;
  bool all_marked = true;
  for (std::size_t i = 0; i < names.size(); ++i) {
    bool marked = false;
    bare.push_back(without_seed(names[i], seeds[i], marked));
    all_marked = all_marked && marked;
  }
  // A lone "loops-4" with the seed 4 keeps its number; "loops-4-seed-4" does not need its last.
  if (names.size() == 1) return all_marked ? bare.front() : names.front();
  const bool agree =
      std::all_of(bare.begin(), bare.end(), [&](const auto& name) { return name == bare.front(); });
  return agree ? bare.front() : common_prefix(names);
}

}  // namespace rondo
