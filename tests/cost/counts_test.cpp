// Every row of tests/golden/counts.csv (arXiv 2609.36636), counted from the shipped recipes.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "config/kinds.h"
#include "config/recipe.h"
#include "cost/baselines.h"
#include "cost/parameters.h"

namespace rondo {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<Row> published_rows() {
  std::vector<std::string> names;
  std::vector<Row> rows;
  for (const auto& line : split(read_file("tests/golden/counts.csv"), '\n')) {
    if (line.empty() || line.starts_with("#")) continue;
    const auto cells = split(line, ',');
    if (names.empty()) {
      names = cells;
      continue;
    }
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = cells[i];
  }
  return rows;
}

/// The shipped recipe of a row's family with what the row changes.
Config recipe_of(const Row& row) {
  const std::string file =
      row.at("family") == "llama" ? "recipes/llama-1b.toml" : "recipes/qwen-0.6b.toml";
  Overrides set = {"model.layout=" + row.at("layout")};
  for (const char* key : {"injection", "history", "history_window", "timestep"})
    set.push_back(fmt::format("model.{}={}", key, row.at(key)));
  return read_recipe(file, set);
}

TEST(PublishedCounts, EveryRowFromTheShippedRecipes) {
  const auto rows = published_rows();
  EXPECT_EQ(rows.size(), 90U);
  int published = 0;
  for (const auto& row : rows) {
    const auto config = recipe_of(row);
    SCOPED_TRACE(fmt::format("{} {} {} {} {} {}", row.at("family"), row.at("layout"),
                             row.at("injection"), row.at("history"), row.at("history_window"),
                             row.at("timestep")));
    const auto number = [&](const char* name) { return std::stoll(row.at(name)); };
    EXPECT_EQ(config.model.prelude_layers, number("prelude_layers"));
    EXPECT_EQ(config.model.core_layers, number("core_layers"));
    EXPECT_EQ(config.model.coda_layers, number("coda_layers"));
    EXPECT_EQ(config.loops.forward, number("loops"));
    EXPECT_EQ(config.loops.backward, number("loops"));
    const auto counts = count_parameters(config.model, vocabulary_size(config));
    EXPECT_EQ(counts.total, number("total"));
    EXPECT_EQ(counts.embedding, number("embedding"));
    EXPECT_EQ(counts.once, number("once"));
    EXPECT_EQ(counts.recurrent, number("recurrent"));
    // As printed: all digits, or millions with two decimals.
    const auto& printed = row.at("published");
    if (printed.empty()) continue;
    ++published;
    EXPECT_EQ(printed.ends_with("M")
                  ? fmt::format("{:.2f}M", static_cast<double>(counts.total) / 1e6)
                  : fmt::format("{}", counts.total),
              printed);
  }
  EXPECT_GT(published, 20);
}

TEST(PublishedCounts, ScheduleAndBudgetOfTheReferences) {
  struct Reference {
    const char* recipe;
    std::int64_t steps, up, flat, down, depth;
    double tokens;
  };
  for (const auto& one : {Reference{"llama-1b", 5394, 270, 4585, 539, 20, 20.15e9},
                          Reference{"qwen-0.6b", 2860, 143, 2431, 286, 28, 12.00e9}}) {
    const auto config = read_recipe(fmt::format("recipes/{}.toml", one.recipe));
    const auto& train = config.train;
    EXPECT_EQ(train.steps, one.steps);
    EXPECT_EQ(train.warmup_steps, one.up);
    EXPECT_EQ(train.decay_steps, one.down);
    EXPECT_EQ(train.steps - train.warmup_steps - train.decay_steps, one.flat);
    EXPECT_EQ(effective_depth(config), one.depth);
    EXPECT_NEAR(
        static_cast<double>(train.steps * train.batch * config.data.sequence_length) / one.tokens,
        1.0, 5e-4);
    EXPECT_EQ(train.optimizer, OptimizerKind::kMuon);
  }
}

TEST(PublishedCounts, SmallOnesKeepTheShape) {
  for (const std::string family : {"llama", "qwen"}) {
    const auto full =
        read_recipe(family == "llama" ? "recipes/llama-1b.toml" : "recipes/qwen-0.6b.toml");
    for (const char* size : {"s", "xs"}) {
      const auto small = read_recipe(fmt::format("recipes/{}-{}.toml", family, size));
      const auto same_ratio = [&](std::int64_t ModelConfig::*part) {
        EXPECT_EQ(small.model.*part * full.model.d_model, full.model.*part * small.model.d_model);
      };
      same_ratio(&ModelConfig::d_ff);
      EXPECT_EQ(small.model.heads * small.model.head_dim * full.model.d_model,
                full.model.heads * full.model.head_dim * small.model.d_model);
      EXPECT_EQ(small.model.heads * full.model.kv_heads, full.model.heads * small.model.kv_heads);
      EXPECT_EQ(effective_depth(small), effective_depth(full));
      auto rest = full.model;
      for (auto part : {&ModelConfig::d_model, &ModelConfig::heads, &ModelConfig::kv_heads,
                        &ModelConfig::head_dim, &ModelConfig::d_ff, &ModelConfig::vocab})
        rest.*part = small.model.*part;
      Config one = full, other = full;
      one.model = rest;
      other.model = small.model;
      EXPECT_EQ(differences(one, other), std::vector<std::string>{});
    }
  }
}

TEST(PublishedCounts, TheKvBaselineIsTheControlOfEqualEffectiveDepth) {
  for (const char* layout : {"4x5", "1+2x9+1", "5+5x3+0"}) {
    const auto looped =
        read_recipe("recipes/llama-xs.toml", {fmt::format("model.layout={}", layout)});
    const auto control = matched_baselines(looped).back();
    EXPECT_EQ(control.match, "kv");
    EXPECT_EQ(effective_depth(control.config), 20);
    const auto plain = read_recipe("recipes/llama-xs.toml");
    EXPECT_EQ(count_parameters(control.config.model, 256).total,
              count_parameters(plain.model, 256).total);
    EXPECT_EQ(control.config.loops.forward, 1);
  }
}

}  // namespace
}  // namespace rondo
