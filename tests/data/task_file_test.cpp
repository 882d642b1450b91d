// A user's own task: what is read, which examples come in which order, what is refused.
#include <set>

#include "tests/data/support.h"
#include "tests/data/task_support.h"

namespace rondo::testing {
namespace {

constexpr std::string_view kReversals =
    "{\"input\": \"abc>\", \"target\": \"cba\", \"length\": 3}\n"
    "\n"
    "{\"input\": \"ab>\", \"target\": \"ba\", \"length\": 2, \"source\": \"hand\"}\r\n"
    "{\"input\": \"xyz>\", \"target\": \"zyx\", \"length\": 3}\n"
    "{\"input\": \"é>\", \"target\": \"é\"}";

TEST(TaskFile, BytesOfTheTargetAndTheEndAreSupervised) {
  const TempFolder folder;
  const auto file = folder.write("own.jsonl", kReversals);
  const auto sample = stream_of(file.string(), 2).sample(0);
  EXPECT_EQ(sample.input, "ab>");
  EXPECT_EQ(sample.tokens, (std::vector<std::int32_t>{kTaskBos, 'a', 'b', '>', 'b', 'a'}));
  EXPECT_EQ(sample.targets, (std::vector<std::int32_t>{-1, -1, -1, 'b', 'a', kTaskEos}));
  EXPECT_EQ(sample.length, 2);
}

TEST(TaskFile, EveryLineOnceAnEpoch) {
  const TempFolder folder;
  const auto file = folder.write("own.jsonl", kReversals);
  const auto task = open_task(file.string());
  EXPECT_EQ(task->training, (TaskRange{2, 3}));
  const TaskStream stream(task, 1, TaskSplit::training, task->training);
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    std::set<std::string> seen;
    for (std::uint64_t i = 0; i < 4; ++i) seen.insert(stream.sample(4 * epoch + i).input);
    EXPECT_EQ(seen, (std::set<std::string>{"abc>", "ab>", "xyz>", "é>"}));
  }
  // The length of "é>", not given, is its bytes.
  std::set<std::string> threes;
  for (std::uint64_t i = 0; i < 3; ++i) threes.insert(stream_of(file.string(), 3).sample(i).input);
  EXPECT_EQ(threes, (std::set<std::string>{"abc>", "xyz>", "é>"}));
}

TEST(TaskFile, TheFolderDoesNotMatter) {
  const TempFolder one;
  const TempFolder two;
  const auto here = stream_of(one.write("own.jsonl", kReversals).string(), {2, 3});
  const auto there = stream_of(two.write("other.jsonl", kReversals).string(), {2, 3});
  for (std::uint64_t i = 0; i < 8; ++i) EXPECT_EQ(here.sample(i).input, there.sample(i).input);
}

TEST(TaskFile, RatesAreCountedInTheFile) {
  const TempFolder folder;
  const auto task = open_task(folder
                                  .write("own.jsonl", R"({"input": "a", "target": "yes"}
{"input": "b", "target": "yes"}
{"input": "c", "target": "no"})")
                                  .string());
  const auto whole = task->rates({1, 1}, TaskMetric::accuracy_sequence);
  EXPECT_DOUBLE_EQ(whole.chance, 0.5);
  EXPECT_DOUBLE_EQ(whole.majority, 2.0 / 3);
  const auto tokens = task->rates({1, 1}, TaskMetric::accuracy);
  EXPECT_DOUBLE_EQ(tokens.chance, 1.0 / 6);     // y e s n o EOS
  EXPECT_DOUBLE_EQ(tokens.majority, 3.0 / 11);  // EOS
}

TEST(TaskFile, WhatIsWrongIsNamedWithItsLine) {
  const TempFolder folder;
  const auto error = [&](std::string_view text) {
    const auto file = folder.write("bad.jsonl", text);
    return error_of([&] { open_task(file.string()); });
  };
  const std::string good = "{\"input\": \"a\", \"target\": \"b\"}\n";
  EXPECT_TRUE(contains(error(good + "nonsense"), "bad.jsonl:2: expected a JSON object"));
  EXPECT_TRUE(contains(error(good + "[1]"), "bad.jsonl:2: expected a JSON object"));
  EXPECT_TRUE(contains(error("{\"input\": \"a\"}"), "bad.jsonl:1: expected a string \"target\""));
  EXPECT_TRUE(contains(error("{\"input\": 3, \"target\": \"b\"}"), "a string \"input\""));
  EXPECT_TRUE(contains(error("{\"input\": \"a\", \"target\": \"\"}"), "not empty"));
  for (const char* length : {"0", "-1", "1.5", "\"3\"", "4097", "1e400", "18446744073709551615"})
    EXPECT_TRUE(
        contains(error(fmt::format(R"({{"input": "a", "target": "b", "length": {}}})", length)),
                 "bad.jsonl:1: "))
        << length;
  EXPECT_TRUE(contains(error("\n \n"), "no examples"));
  EXPECT_TRUE(contains(error("{\"input\": \"\xff\", \"target\": \"b\"}"), "UTF-8"));
  EXPECT_TRUE(contains(error_of([&] { open_task((folder.path() / "none.jsonl").string()); }),
                       "none.jsonl"));
  const auto file = folder.write("gap.jsonl", kReversals);
  EXPECT_TRUE(
      contains(error_of([&] { stream_of(file.string(), 5); }), "length 5; expected 2 to 3"));
  const auto hole = folder.write("hole.jsonl", good + "{\"input\": \"aaa\", \"target\": \"b\"}");
  EXPECT_TRUE(contains(error_of([&] { static_cast<void>(stream_of(hole.string(), 2).sample(0)); }),
                       "no example of length 2"));
}

}  // namespace
}  // namespace rondo::testing
