// Two recipes of one task, and their accuracy over length.
#include "cli/quickstart_parity.h"

#include <fmt/format.h>

#include "base/shipped.h"
#include "config/recipe.h"

namespace rondo {

std::vector<ParityModel> parity_models(bool fast) {
  Overrides set;
  if (fast) set = {"train.batch=64", "data.test_examples=128"};
  const auto read = [&](const char* recipe) {
    return read_recipe(find_shipped(recipe).string(), set);
  };
  return {{.name = "rlt",
           .config = read("recipes/parity.toml"),
           .why = "1 + 1 layers; the state goes from token to token"},
          {.name = "transformer",
           .config = read("recipes/parity-transformer.toml"),
           .why = "three layers, all tokens at once"}};
}

TextTable parity_table(std::span<const RunRecord> runs) {
  std::vector<std::string> header = {"parity: % right at length", "seed"};
  for (const auto& point : runs.front().summary.length_sweep)
    if (point.metric == "accuracy") header.push_back(std::to_string(point.length));
  TextTable table(header);
  for (const auto& run : runs) {
    std::vector<std::string> row = {run.dir.parent_path().filename().string(), run.summary.seed};
    for (const auto& point : run.summary.length_sweep)
      if (point.metric == "accuracy") row.push_back(fmt::format("{:.1f}", 100 * point.value));
    table.add(std::move(row));
  }
  std::vector<std::string> guess = {"guessing", ""};
  for (const auto& point : runs.front().summary.length_sweep)
    if (point.metric == "accuracy") guess.push_back(fmt::format("{:.1f}", 100 * point.chance));
  table.add(std::move(guess));
  return table;
}

}  // namespace rondo
