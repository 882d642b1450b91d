// A recipe's task as batches and held-out examples: lengths, masks, weights, splits that share
// nothing, a file in two parts.
#include "data/task_data.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "config/recipe.h"
#include "data/task_tokens.h"

namespace rondo {
namespace {

DataConfig config_of(const std::string& task, const Overrides& extra = {}) {
  Overrides set = {"data.source=task", "data.task=" + task};
  set.insert(set.end(), extra.begin(), extra.end());
  return parse_recipe("", "recipe", set).data;
}

std::string error_of(const DataConfig& config) {
  try {
    const TaskData data(config);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::int64_t> lengths_of(const std::vector<TaskExamples>& sets) {
  std::vector<std::int64_t> lengths;
  for (const auto& set : sets) lengths.push_back(set.lengths.max);
  return lengths;
}

// The protocol of arXiv 2610.07591 as it stands in its table of tasks.
TEST(TaskData, HasThePublishedSets) {
  using List = std::vector<std::int64_t>;
  struct Row {
    const char* task;
    TaskRange trained;
    List validation, test;
    std::size_t validated, tested;
  };
  const List label = {32, 40, 48, 64, 96, 128, 192, 256};
  const List words = {32, 48, 64, 96, 128, 192, 256, 512};
  const Row rows[] = {
      {"parity", {3, 40}, {32, 36, 40}, label, 256, 1024},
      {"mod5-brackets", {3, 40}, {32, 36, 40}, label, 256, 1024},
      {"mod5-flat", {3, 39}, {33, 35, 39}, {31, 39, 47, 63, 95, 127, 191, 255}, 256, 1024},
      {"s5", {32, 32}, {32}, words, 256, 1024},
      {"s5-swaps", {32, 32}, {32}, words, 256, 1024},
      {"addition", {1, 8}, {8}, {9, 10, 11, 12, 14, 16, 32}, 256, 256}};
  for (const auto& row : rows) {
    const TaskData data(config_of(row.task));
    EXPECT_EQ(data.lengths(), row.trained) << row.task;
    EXPECT_EQ(lengths_of(data.validation()), row.validation) << row.task;
    for (const auto& set : data.validation()) EXPECT_EQ(set.samples.size(), row.validated);
    const auto test = data.test();
    EXPECT_EQ(lengths_of(test), row.test) << row.task;
    for (const auto& set : test) EXPECT_EQ(set.samples.size(), row.tested) << row.task;
  }
}

// Config and data know the lengths of a task each for itself; they must agree.
TEST(TaskData, AgreesWithTheRecipesLengths) {
  for (const auto& name : {"parity", "addition", "mod5-flat", "mod5-brackets", "s5", "s5-swaps",
                           "a5", "z60", "even-pairs", "cycle", "z7", "s3xz10"}) {
    const auto task = open_task(name);
    const auto own = own_lengths(name);
    ASSERT_TRUE(own);
    EXPECT_EQ((TaskRange{own->min, own->max}), task->training) << name;
    const TaskStream stream(task, 5, TaskSplit::training, task->training);
    std::int64_t longest = 0;
    for (std::uint64_t i = 0; i < 3000; ++i)
      longest = std::max(longest, static_cast<std::int64_t>(stream.sample(i).tokens.size()));
    EXPECT_EQ(longest, longest_row(name, own->max, LabelAt::kMark)) << name;
  }
}

TEST(TaskData, OtherLengthsKeepTheProtocolsRatios) {
  const TaskData data(config_of("parity", {"data.min_length=1", "data.max_length=20"}));
  EXPECT_EQ(lengths_of(data.validation()), (std::vector<std::int64_t>{16, 18, 20}));
  EXPECT_EQ(lengths_of(data.test()), (std::vector<std::int64_t>{16, 20, 24, 32, 48, 64, 96, 128}));
  const TaskData flat(config_of("mod5-flat", {"data.max_length=19"}));
  for (const auto length : lengths_of(flat.test())) EXPECT_EQ(length % 2, 1);
  const TaskData asked(
      config_of("parity", {"data.validation_lengths=[8, 12]", "data.validation_examples=5",
                           "data.test_lengths=[50]", "data.test_examples=7"}));
  EXPECT_EQ(lengths_of(asked.validation()), (std::vector<std::int64_t>{8, 12}));
  EXPECT_EQ(asked.validation()[1].samples.size(), 5U);
  EXPECT_EQ(asked.test()[0].samples.size(), 7U);
}

TEST(TaskData, SplitsShareNoInput) {
  // Short examples: without exclusion they would meet many times.
  const TaskData data(
      config_of("addition", {"data.max_length=2", "data.test_lengths=[2]",
                             "data.validation_examples=100", "data.test_examples=100"}));
  std::set<std::string> held_out;
  for (const auto& set : data.validation())
    for (const auto& sample : set.samples) held_out.insert(sample.input);
  for (const auto& set : data.test())
    for (const auto& sample : set.samples) held_out.insert(sample.input);
  for (std::uint64_t i = 0; i < 5000; ++i)
    EXPECT_FALSE(held_out.contains(data.training(i).input)) << i;
}

// Three lengths of the protocol that are one here would be the same examples three times.
TEST(TaskData, ALengthIsValidatedOnOnce) {
  const TaskData data(config_of("parity", {"data.min_length=16", "data.max_length=16"}));
  ASSERT_EQ(data.validation().size(), 1U);
  EXPECT_EQ(data.validation()[0].samples.size(), 256U);
  const TaskData twice(config_of("parity", {"data.test_lengths=[50, 50]"}));
  EXPECT_EQ(twice.test().size(), 1U);
}

// Of 256 strings of 8 bits most are held out; as many examples of that length as of others are
// drawn all the same.
TEST(TaskData, HeldOutExamplesLeaveTheLengthsUniform) {
  for (const char* examples : {"data.test_examples=256", "data.test_examples=1024"}) {
    const TaskData data(config_of("parity", {"data.min_length=2", "data.max_length=10", examples}));
    std::map<std::int64_t, int> counts;
    for (std::uint64_t i = 0; i < 9000; ++i) ++counts[data.training(i).length];
    EXPECT_EQ(counts.size(), 9U);
    for (const auto& [length, count] : counts) EXPECT_NEAR(count, 1000, 150) << length;
  }
}

TEST(TaskData, SaysWhichLengthsAreHeldOutAltogether) {
  const TaskData small(config_of("parity", {"data.max_length=6"}));
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_LT(small.training(i).length, 5) << i;
  EXPECT_EQ(small.description(),
            "task parity: lengths 3 to 6 to train on, 512 examples to validate; every input of "
            "length 5, 6 is held out, none is trained on");
  const TaskData large(config_of("parity"));
  EXPECT_EQ(large.description().find("held out"), std::string::npos);
}

TEST(TaskData, KnowsWhatAnswersWithoutKnowledgeGet) {
  EXPECT_EQ(TaskData(config_of("parity")).guess().chance, 0.5);
  const auto guess = TaskData(config_of("mod5-brackets")).guess();
  EXPECT_DOUBLE_EQ(guess.chance, 0.2);
  EXPECT_NEAR(guess.majority, 0.288, 0.01);
}

// "256 unique pairs": a + b and b + a are the same one. 55 pairs of one digit exist.
TEST(TaskData, AdditionIsTestedOnDifferentPairs) {
  const TaskData data(config_of("addition", {"data.test_lengths=[1]", "data.test_examples=50"}));
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& sample : data.test()[0].samples) {
    auto a = sample.input.substr(1, 1), b = sample.input.substr(7, 1);
    EXPECT_TRUE(seen.insert({std::min(a, b), std::max(a, b)}).second) << sample.input;
  }
  EXPECT_EQ(seen.size(), 50U);
  EXPECT_EQ(error_of(config_of("addition", {"data.test_lengths=[1]", "data.test_examples=56"})),
            "task addition: lengths 1 hold fewer than 56 different examples; ask for fewer "
            "(data.validation_examples, data.test_examples, --examples)");
}

TEST(TaskData, BatchesAreTheSameExamplesHoweverTheyAreGrouped) {
  const TaskData data(config_of("parity"));
  const auto rows_of = [&](std::int64_t rows) {
    std::map<std::uint64_t, std::vector<std::int32_t>> inputs;
    double weight = 0;
    std::int64_t filled = 0;
    for (const auto& batch : data.batches(64, 32, rows)) {
      EXPECT_EQ(batch.rows, rows);
      EXPECT_EQ(batch.keys.size(), static_cast<std::size_t>(rows));
      filled += batch.rows * batch.length - batch.tokens;
      for (const auto w : batch.weights) weight += static_cast<double>(w);
      for (std::size_t row = 0; row < batch.keys.size(); ++row) {
        const auto begin = batch.inputs.begin() + static_cast<std::ptrdiff_t>(row) * batch.length;
        std::vector<std::int32_t> ids(begin, begin + batch.length);
        while (ids.back() == kTaskPad) ids.pop_back();
        inputs[batch.keys[row]] = ids;
      }
    }
    EXPECT_NEAR(weight, 1, 1e-6);
    return std::pair(inputs, filled);
  };
  const auto [whole, much] = rows_of(32);
  const auto [groups, little] = rows_of(4);
  EXPECT_EQ(whole, groups);
  EXPECT_LT(4 * little, much);
  for (std::uint64_t i = 64; i < 96; ++i) EXPECT_EQ(whole.at(i), data.training(i).tokens);
}

// Every prefix's parity, counted bit by bit.
TEST(TaskData, PrefixParity) {
  const TaskData data(config_of("parity", {"data.supervise=prefix"}));
  const TaskData plain(config_of("parity"));
  for (std::uint64_t i = 0; i < 200; ++i) {
    const auto sample = data.training(i);
    EXPECT_EQ(sample.tokens, plain.training(i).tokens);
    EXPECT_EQ(sample.targets[0], kNoTarget);
    int ones = 0;
    for (std::size_t t = 1; t < sample.tokens.size(); ++t) {
      ones += sample.tokens[t] == '1' ? 1 : 0;
      EXPECT_EQ(sample.targets[t], '0' + ones % 2);
    }
  }
}

// The same examples without their '='; validation and test too, and with every prefix's label.
TEST(TaskData, LabelsAtTheLastSymbol) {
  for (const auto* task : {"parity", "mod5-flat", "mod5-brackets", "even-pairs", "cycle"}) {
    const TaskData data(config_of(task, {"data.label_at=last"})), plain(config_of(task));
    EXPECT_EQ(data.longest_row() + 1, plain.longest_row()) << task;
    EXPECT_NE(data.sha256(), plain.sha256()) << task;
    const auto check = [&](const TaskSample& sample, TaskSample marked) {
      EXPECT_EQ(marked.tokens.back(), '=') << task;
      marked.input.pop_back(), marked.tokens.pop_back();
      EXPECT_EQ(sample.tokens, marked.tokens) << task;
      EXPECT_EQ(sample.input, marked.input) << task;
      EXPECT_EQ(sample.length, marked.length) << task;
      ASSERT_EQ(sample.targets.size(), sample.tokens.size()) << task;
      EXPECT_EQ(sample.targets.back(), marked.targets.back()) << task;
      for (std::size_t t = 0; t + 1 < sample.targets.size(); ++t)
        EXPECT_EQ(sample.targets[t], kNoTarget) << task;
    };
    for (std::uint64_t i = 0; i < 50; ++i) check(data.training(i), plain.training(i));
    const auto validation = data.validation(), marked = plain.validation();
    for (std::size_t set = 0; set < validation.size(); ++set)
      check(validation[set].samples.front(), marked[set].samples.front());
    check(data.test().back().samples.back(), plain.test().back().samples.back());
  }
  const TaskData prefixes(config_of("parity", {"data.label_at=last", "data.supervise=prefix"}));
  const auto sample = prefixes.training(0);
  EXPECT_EQ(sample.targets.size(), sample.input.size() + 1);
  EXPECT_EQ(std::count(sample.targets.begin(), sample.targets.end(), kNoTarget), 1);
  EXPECT_THROW(config_of("addition", {"data.label_at=last"}), Error);
}

class TaskDataFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("rondo-task-data-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string write(const char* name, int first, int last) const {
    const auto file = folder_ / name;
    std::ofstream out(file);
    for (int length = 2; length <= 5; ++length)
      for (int i = first; i < last; ++i)
        out << R"({"input": ")" << std::string(static_cast<std::size_t>(length), 'a') << i
            << R"(>", "target": "b", "length": )" << length << "}\n";
    return file.string();
  }
  fs::path folder_;
};

TEST_F(TaskDataFile, IsCutIntoPartsWithoutACommonInput) {
  const auto file = write("own.jsonl", 0, 40);
  const TaskData data(config_of(file, {"data.max_length=4", "data.validation=0.1"}));
  EXPECT_EQ(data.lengths(), (TaskRange{2, 4}));
  EXPECT_EQ(data.training_examples(), 3 * 36);
  EXPECT_EQ(data.longest_row(), 1 + 4 + 2 + 1 + 1);
  std::set<std::string> training, held_out;
  for (std::uint64_t i = 0; i < 108; ++i) training.insert(data.training(i).input);
  EXPECT_EQ(training.size(), 108U);
  ASSERT_EQ(data.validation().size(), 1U);
  for (const auto& sample : data.validation()[0].samples) held_out.insert(sample.input);
  EXPECT_EQ(held_out.size(), 12U);
  for (const auto& input : held_out) EXPECT_FALSE(training.contains(input));
  // The sweep: held-out examples of trained lengths, all of the length that is not trained on.
  const auto test = data.test();
  EXPECT_EQ(lengths_of(test), (std::vector<std::int64_t>{2, 3, 4, 5}));
  EXPECT_EQ(test[0].samples.size(), 4U);
  EXPECT_EQ(test[0].split, "validation");
  EXPECT_EQ(test[3].samples.size(), 40U);
  EXPECT_EQ(test[3].split, "test");
  for (const auto& set : test)
    for (const auto& sample : set.samples) EXPECT_FALSE(training.contains(sample.input));
}

TEST_F(TaskDataFile, TheChoiceDoesNotDependOnTheOrderOfLines) {
  const auto file = write("own.jsonl", 0, 40);
  const TaskData data(config_of(file));
  auto lines = read_file(file);
  std::vector<std::string> turned;
  for (std::size_t at = 0; at < lines.size();) {
    const auto end = lines.find('\n', at);
    turned.insert(turned.begin(), lines.substr(at, end - at + 1));
    at = end + 1;
  }
  const auto other = folder_ / "turned.jsonl";
  std::ofstream out(other);
  for (const auto& line : turned) out << line;
  out.close();
  const TaskData same(config_of(other.string()));
  const auto inputs = [](const TaskData& of) {
    std::set<std::string> list;
    for (const auto& sample : of.validation()[0].samples) list.insert(sample.input);
    return list;
  };
  EXPECT_EQ(inputs(data), inputs(same));
}

TEST_F(TaskDataFile, AFileOfItsOwnToValidateOn) {
  const auto file = write("own.jsonl", 0, 10);
  const auto other = write("other.jsonl", 10, 20);
  const TaskData data(config_of(file, {"data.validation=" + other}));
  EXPECT_EQ(data.training_examples(), 40);
  EXPECT_EQ(data.validation()[0].samples.size(), 40U);
  const auto both = write("both.jsonl", 9, 12);
  EXPECT_NE(error_of(config_of(file, {"data.validation=" + both})).find("is also in"),
            std::string::npos);
}

TEST(TaskDataErrors, SayWhatWasExpected) {
  EXPECT_EQ(error_of(config_of("partiy")),
            "task \"partiy\": there is none of that name; did you mean \"parity\"?");
  EXPECT_EQ(error_of(config_of("even-pairs", {"data.min_length=1"})),
            "task even-pairs: length 1; expected 2 to 4096");
  EXPECT_EQ(error_of(config_of("mod5-flat", {"data.test_lengths=[32]"})),
            "data.test_lengths: task mod5-flat has odd lengths only: a score at 32 would be one at "
            "31; ask for that");
  EXPECT_EQ(error_of(config_of("missing.jsonl")).find("missing.jsonl"), 0U);
}

}  // namespace
}  // namespace rondo
