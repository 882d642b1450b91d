// Groups over seeds, means and spreads, failures, and warnings about unfair comparisons.
#include "record/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "config/recipe.h"
#include "record/run_folder.h"
#include "tests/record/fake_runs.h"

namespace rondo::test {
namespace {

RunTable table_of(const fs::path& root) {
  std::vector<RunRecord> runs;
  for (const auto& dir : find_runs(root)) runs.push_back(read_run(dir));
  return make_run_table(std::move(runs));
}

bool warned(const RunTable& table, std::string_view part) {
  for (const auto& warning : table.warnings)
    if (warning.find(part) != std::string::npos) return true;
  return false;
}

TEST(Table, GroupsRunsThatDifferInTheSeedOnly) {
  const TemporaryFolder tmp;
  write_fake_comparison(tmp.path(), 20);
  const RunTable table = table_of(tmp.path());
  ASSERT_EQ(table.runs.size(), 8u);
  ASSERT_EQ(table.groups.size(), 4u);
  EXPECT_EQ(table.groups[0].name, "looped-4");
  EXPECT_EQ(table.groups[1].name, "plain");
  EXPECT_EQ(table.groups[2].name, "sampled-4");
  EXPECT_EQ(table.groups[3].name, "truncated-8");
  const RunGroup& group = table.groups[0];
  EXPECT_EQ(group.seeds, (std::vector<std::string>{"42", "43"}));
  EXPECT_EQ(group.finished, 2u);
  ASSERT_EQ(group.bits_per_byte.values.size(), 2u);
  const double a = group.bits_per_byte.values[0], b = group.bits_per_byte.values[1];
  EXPECT_NEAR(b - a, 0.012, 1e-5);
  EXPECT_DOUBLE_EQ(group.bits_per_byte.mean, (a + b) / 2);
  EXPECT_NEAR(group.bits_per_byte.sd, 0.012 / std::sqrt(2.0), 1e-5);
  EXPECT_EQ(loops_text(group), "4");
  EXPECT_EQ(loops_text(table.groups[2]), "4 (uniform)");
  EXPECT_EQ(loops_text(table.groups[3]), "8 (B 4)");
}

TEST(Table, LongerRunsAreAnotherGroup) {
  const TemporaryFolder tmp;
  auto config = parse_recipe("[train]\nschedule = \"constant\"", "recipe");
  for (const std::int64_t steps : {1000, 2000}) {
    const auto dir = tmp / std::to_string(steps);
    write_fake_run(dir, {.steps = 20});
    config.train.steps = steps;
    write_file_atomically(dir / kConfigFile, to_toml(config));
  }
  EXPECT_EQ(table_of(tmp.path()).groups.size(), 2u);
}

TEST(Table, WarnsOfASeedThatOccursTwice) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "a/first", {.seed = 1, .steps = 20});
  write_fake_run(tmp / "a/again", {.seed = 1, .steps = 20});
  EXPECT_TRUE(warned(table_of(tmp.path()), "a seed occurs more than once"));
}

TEST(Table, FailuresAreCountedAndLeftOutOfTheMean) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "a/seed-1", {.seed = 1, .steps = 20});
  write_fake_run(tmp / "a/seed-2", {.seed = 2, .steps = 20, .stop_reason = "diverged"});
  write_fake_run(tmp / "a/seed-3", {.seed = 3, .steps = 20, .with_end = false});
  const RunTable table = table_of(tmp.path());
  ASSERT_EQ(table.groups.size(), 1u);
  const RunGroup& group = table.groups[0];
  EXPECT_EQ(group.name, "a");
  EXPECT_EQ(group.diverged, 1u);
  EXPECT_EQ(group.failed, 1u);
  EXPECT_EQ(group.bits_per_byte.count, 1u);
  EXPECT_EQ(group.bits_per_byte.values.size(), 3u) << "every seed's value is there";
  EXPECT_TRUE(std::isnan(group.bits_per_byte.sd)) << "the spread of one run is unknown, not zero";
  EXPECT_TRUE(warned(table, "a: 2 of 3 runs failed and are not in the mean."));
}

TEST(Table, UnfinishedGroupsAreProvisional) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "a", {.steps = 20, .stop_reason = "interrupted"});
  const RunTable table = table_of(tmp.path());
  EXPECT_TRUE(table.groups[0].provisional);
  EXPECT_EQ(table.groups[0].bits_per_byte.count, 1u);
  EXPECT_TRUE(warned(table, "no run has finished"));
  EXPECT_TRUE(warned(table, "One seed only for a"));
}

TEST(Table, WarnsOfUnequalBudgets) {
  const TemporaryFolder tmp;
  write_fake_comparison(tmp.path(), 20);
  write_fake_run(tmp / "longer-42", {.steps = 30, .machine = "Another CPU"});
  const RunTable table = table_of(tmp.path());
  EXPECT_TRUE(warned(table, "Training FLOPs are unequal: "));
  EXPECT_TRUE(warned(table, "Parameters are unequal: "));
  EXPECT_TRUE(warned(table,
                     "Training tokens are unequal: 81.92 k for looped-4, 122.9 k for "
                     "longer-42 (50 % more)."))
      << table.warnings[2];
  EXPECT_TRUE(warned(table, "Forward FLOPs per token are unequal"));
  EXPECT_TRUE(warned(table,
                     "Effective depth is unequal: a token passes 10 layers in longer-42, 18 in "
                     "truncated-8."))
      << join(table.warnings, "\n");
  EXPECT_TRUE(warned(table, "Runs come from 2 different machines"));
  EXPECT_TRUE(warned(table, "One seed only for longer-42"));
}

TEST(Table, SaysWhatAComparisonOfLoopsHoldsFixed) {
  const TemporaryFolder tmp;
  // 1 + 2 x 4 + 1 and 1 + 4 x 2 + 1: equal depth of other layers.
  write_fake_run(tmp / "two", {.loops = 4, .backward = 4, .steps = 20, .core_layers = 2});
  write_fake_run(tmp / "four", {.loops = 2, .backward = 2, .steps = 20, .core_layers = 4});
  auto matches = table_of(tmp.path()).matches;
  ASSERT_EQ(matches.size(), 4u);
  EXPECT_EQ(matches[0].what, "physical depth");
  EXPECT_FALSE(matches[0].equal);
  EXPECT_EQ(matches[0].text, "6 in four, 4 in two");
  EXPECT_EQ(matches[1].what, "effective depth in training");
  EXPECT_TRUE(matches[1].equal);
  EXPECT_EQ(matches[1].text, "10 layers");
  EXPECT_EQ(matches[2].what, "effective depth at inference");
  EXPECT_EQ(matches[3].what, "recipe");
  EXPECT_TRUE(matches[3].equal) << matches[3].text;

  write_fake_run(tmp / "truncated",
                 {.loops = 4, .backward = 2, .injection = "channel", .steps = 20});
  const auto table = table_of(tmp.path());
  EXPECT_EQ(table.matches[0].text, "6 in four, 4 in truncated and two");
  EXPECT_FALSE(table.matches[3].equal);
  EXPECT_TRUE(table.matches[3].text.find("loops.backward is all in four and two, 2 in truncated") !=
              std::string::npos)
      << table.matches[3].text;
  EXPECT_TRUE(table.matches[3].text.find("model.injection is \"dense\" in four and two, "
                                         "\"channel\" in truncated") != std::string::npos)
      << table.matches[3].text;
  const auto lines = matches_text(table.matches);
  EXPECT_EQ(lines[0].substr(0, 7), "Equal: ");
  EXPECT_EQ(lines[1], "Different physical depth: 6 in four, 4 in truncated and two.");
}

TEST(Table, EqualBudgetsRaiseNoWarning) {
  const TemporaryFolder tmp;
  for (const std::uint64_t seed : {1, 2}) {
    write_fake_run(tmp / ("a-" + std::to_string(seed)), {.seed = seed, .steps = 20});
    write_fake_run(tmp / ("b-" + std::to_string(seed)),
                   {.sampler = "uniform", .seed = seed, .steps = 20});
  }
  const RunTable table = table_of(tmp.path());
  EXPECT_EQ(table.groups.size(), 2u);
  EXPECT_TRUE(table.warnings.empty()) << table.warnings[0];
}

TEST(Table, DataAreComparedByHashWhereThereIsOne) {
  const TemporaryFolder tmp;
  write_fake_run(tmp / "a", {.steps = 20});
  write_fake_run(tmp / "b", {.loops = 3, .steps = 20, .data_sha256 = "def"});
  EXPECT_TRUE(warned(table_of(tmp.path()), "Data differ: a and b have read other content."));
}

TEST(Table, WarnsOfTokenizersDataAndValidation) {
  const TemporaryFolder tmp;
  const auto write = [&](const std::string& name, const std::string& data) {
    create_folder(tmp / name);
    write_file_atomically(tmp / (name + "/config.toml"), "program = \"x\"\n[data]\n" + data);
    write_file_atomically(tmp / (name + "/metrics.jsonl"), "{\"step\":1,\"train_loss_nats\":1}\n");
  };
  write("a", "tokenizer = \"bytes\"\npath = \"p\"\nsequence_length = 8\n");
  write("b", "tokenizer = \"x.model\"\npath = \"q\"\nsequence_length = 16\n");
  const RunTable table = table_of(tmp.path());
  EXPECT_TRUE(warned(table,
                     "Tokenizers differ (\"bytes\" in a, \"x.model\" in b): losses in nats per "
                     "token do not compare, bits per byte do."));
  EXPECT_TRUE(warned(table, "Data differ: data.path is \"p\" in a, \"q\" in b."));
  EXPECT_TRUE(warned(table, "Validation differs: data.sequence_length is 8 in a, 16 in b."));
}

TEST(Table, NamesOfGroups) {
  const auto name = [](std::vector<std::string> names, std::vector<std::string> seeds) {
    return group_name(names, seeds);
  };
  EXPECT_EQ(name({"looped-42", "looped-43"}, {"42", "43"}), "looped");
  EXPECT_EQ(name({"looped/seed-42", "looped/seed-43"}, {"42", "43"}), "looped");
  EXPECT_EQ(name({"looped-s1", "looped-s2"}, {"1", "2"}), "looped");
  EXPECT_EQ(name({"seed_1", "seed_2"}, {"1", "2"}), "");
  EXPECT_EQ(name({"loops-4"}, {"4"}), "loops-4");
  EXPECT_EQ(name({"loops-4-seed-4"}, {"4"}), "loops-4");
  EXPECT_EQ(name({"run-142", "run-143"}, {"42", "43"}), "run");
  EXPECT_EQ(name({"runs-a", "runs-b"}, {"1", "2"}), "runs");
  EXPECT_EQ(name({"x", "y"}, {"1", "2"}), "");
}

TEST(Table, NamesOfRunsAreFoldersBelowWhatTheyShare) {
  std::vector<RunRecord> runs(3);
  runs[0].dir = "/r/a/x";
  runs[1].dir = "/r/a/y/";
  runs[2].dir = "/r/b";
  EXPECT_EQ(run_names(runs), (std::vector<std::string>{"a/x", "a/y", "b"}));
  runs.resize(1);
  EXPECT_EQ(run_names(runs), (std::vector<std::string>{"x"}));
}

TEST(Table, AsTextAndJson) {
  const TemporaryFolder tmp;
  write_fake_comparison(tmp.path(), 20);
  const RunTable table = table_of(tmp.path());
  const std::string text = to_text(table).tabbed();
  EXPECT_NE(text.find("looped-4\t42,43\t3.331 M\t4\t4\t10\t"), std::string::npos) << text;
  EXPECT_NE(text.find(" ± 0.0085"), std::string::npos) << text;
  const Json json = to_json(table);
  EXPECT_EQ(json["groups"].size(), 4u);
  EXPECT_EQ(json["groups"][0]["name"], "looped-4");
  EXPECT_EQ(json["groups"][0]["bits_per_byte"]["count"], 2);
  EXPECT_EQ(json["runs"].size(), 8u);
  EXPECT_EQ(json["runs"][0]["state"], "finished");
  EXPECT_TRUE(json["groups"][0]["accuracy"]["mean"].is_null());
}

TEST(Table, SpreadAsText) {
  EXPECT_EQ(spread_text({}), "–");
  EXPECT_EQ(spread_text({.values = {2}, .mean = 2, .count = 1}), "2.0000");
  EXPECT_EQ(spread_text({.values = {2, 3}, .mean = 2.5, .sd = 0.7071, .count = 2}),
            "2.5000 ± 0.7071");
}

}  // namespace
}  // namespace rondo::test
