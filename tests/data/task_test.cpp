// The task table: names, reproducibility by index, disjoint splits, published sizes, scores.
#include "data/task.h"

#include <set>

#include "data/task_score.h"
#include "tests/data/support.h"
#include "tests/data/task_support.h"

namespace rondo::testing {
namespace {

std::vector<std::string> inputs(const TaskStream& stream, std::uint64_t count) {
  std::vector<std::string> all;
  for (std::uint64_t i = 0; i < count; ++i) all.push_back(stream.sample(i).input);
  return all;
}

TEST(Task, AnExampleIsAFunctionOfItsIndex) {
  for (const auto& name : task_names()) {
    const auto task = open_task(name);
    const TaskStream stream(task, 11, TaskSplit::training, task->training);
    const auto forward = inputs(stream, 50);
    for (std::uint64_t i = 50; i-- > 0;) {
      const auto again =
          TaskStream(open_task(name), 11, TaskSplit::training, task->training).sample(i);
      ASSERT_EQ(again.input, forward[i]) << name;
    }
    EXPECT_GT(std::set(forward.begin(), forward.end()).size(), 45U) << name;
    EXPECT_NE(inputs(TaskStream(task, 12, TaskSplit::training, task->training), 50), forward);
  }
}

/// These may never change: recorded runs refer to them.
TEST(Task, ExamplesStayWhatTheyAre) {
  EXPECT_EQ(stream_of("parity", 8, 1).sample(0).input, "01011101=");
  EXPECT_EQ(stream_of("s5", 4, 1).sample(0).input, "6 35 8 114");
  EXPECT_EQ(stream_of("addition", 3, 1).sample(0).input, "[613] + [863] =");
  EXPECT_EQ(stream_of("mod5-brackets", 12, 1).sample(0).input, "(((2)-4)--3)=");
}

TEST(Task, SplitsOfThePaperDoNotMeet) {
  for (const auto& name : task_names()) {
    const auto task = open_task(name);
    std::set<std::string> held_out;
    std::size_t examples = 0;
    for (const auto& set : task->validation) {
      for (const auto& input : inputs({task, 20260915, TaskSplit::validation, set.lengths}, 256))
        held_out.insert(input);
      examples += 256;
    }
    for (const auto& input : inputs({task, 20260916, TaskSplit::test, task->test[0].lengths}, 1024))
      held_out.insert(input);
    examples += 1024;
    // One-digit sums repeat among 256 additions.
    EXPECT_GT(held_out.size() + 20, examples) << name;
    std::size_t met = 0;
    for (const auto& input : inputs({task, 20260914, TaskSplit::training, task->training}, 5000))
      met += held_out.contains(input) ? 1 : 0;
    EXPECT_LE(met, name == "addition" ? 120U : 0U) << name;
  }
}

TEST(Task, OneSeedGivesThreeStreams) {
  const auto task = open_task("parity");
  std::set<std::string> all;
  for (const auto split : {TaskSplit::training, TaskSplit::validation, TaskSplit::test})
    for (const auto& input : inputs({task, 5, split, {40, 40}}, 1000)) all.insert(input);
  EXPECT_EQ(all.size(), 3000U);
}

std::vector<TaskSample> first(const TaskStream& stream, std::uint64_t count) {
  std::vector<TaskSample> samples;
  for (std::uint64_t i = 0; i < count; ++i) samples.push_back(stream.sample(i));
  return samples;
}

TEST(Task, ExcludedExamplesAreDrawnAgain) {
  const auto task = open_task("addition");
  const TaskStream held_out(task, 43, TaskSplit::validation, task->training);
  const auto validation = inputs(held_out, 256);
  const std::set<std::string> known(validation.begin(), validation.end());
  TaskStream training(task, 42, TaskSplit::training, task->training);
  const auto before = inputs(training, 5000);
  training.exclude(first(held_out, 256));
  const auto after = inputs(training, 5000);
  std::size_t changed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_FALSE(known.contains(after[i]));
    EXPECT_EQ(before[i] != after[i], known.contains(before[i]));
    changed += before[i] != after[i] ? 1 : 0;
  }
  EXPECT_GT(changed, 0U);

  TaskStream small(open_task("parity"), 1, TaskSplit::training, {3, 3});
  small.exclude(first({open_task("parity"), 1, TaskSplit::test, {3, 3}}, 256));
  EXPECT_EQ(small.taken(), std::set<std::int64_t>{3});
  EXPECT_TRUE(contains(error_of([&] { static_cast<void>(small.sample(0)); }), "too few examples"));
}

TEST(Task, SizesAreThePublishedOnes) {
  const auto sizes = [](const std::vector<TaskSet>& sets) {
    std::int64_t sum = 0;
    for (const auto& set : sets) sum += set.examples;
    return sum;
  };
  for (const auto& name : task_names()) {
    const auto task = open_task(name);
    const bool addition = name == "addition";
    const bool labels = task->final_label && task->metrics.size() == 1;
    EXPECT_EQ(sizes(task->validation), labels ? 768 : 256) << name;
    EXPECT_EQ(sizes(task->test), addition ? 7 * 256 : 8 * 1024) << name;
    EXPECT_EQ(task->test.back().lengths.min, addition              ? 32
                                             : name == "mod5-flat" ? 255
                                             : labels              ? 256
                                                                   : 512);
    for (const auto& set : task->test) EXPECT_EQ(settle(*task, set.lengths), set.lengths);
    EXPECT_EQ(settle(*task, task->training), task->training) << name;
  }
  EXPECT_EQ(open_task("parity")->training, (TaskRange{3, 40}));
  EXPECT_EQ(open_task("mod5-flat")->training, (TaskRange{3, 39}));
  EXPECT_EQ(open_task("s5")->training, (TaskRange{32, 32}));
  EXPECT_EQ(open_task("addition")->training, (TaskRange{1, 8}));
}

TEST(Task, IdsAreInTheVocabulary) {
  for (const auto& name : task_names()) {
    const auto task = open_task(name);
    const TaskStream stream(task, 1, TaskSplit::training, task->training);
    for (std::uint64_t i = 0; i < 100; ++i) {
      const auto sample = stream.sample(i);
      ASSERT_EQ(sample.tokens.size(), sample.targets.size());
      EXPECT_EQ(sample.tokens[0], kTaskBos);
      for (std::size_t t = 0; t < sample.tokens.size(); ++t) {
        EXPECT_GE(sample.tokens[t], 0);
        EXPECT_LT(sample.tokens[t], kTaskVocab);
        EXPECT_GE(sample.targets[t], kNoTarget);
        EXPECT_LT(sample.targets[t], kTaskVocab);
      }
      EXPECT_GE(sample.length, task->training.min);
      EXPECT_LE(sample.length, task->training.max);
    }
  }
}

TEST(Task, SpecialsHaveNames) {
  std::set<std::string> names;
  for (std::int32_t id = 256; id < kTaskVocab; ++id) names.insert(task_special_name(id));
  EXPECT_EQ(names.size(), 21U);
  EXPECT_EQ(task_special_name(kTaskVocab - 1), "<|reserved-17|>");
  EXPECT_TRUE(contains(error_of([] { task_special_name(277); }), "from 256 to 276"));
}

TEST(Task, ErrorsNameWhatIsExpected) {
  EXPECT_TRUE(contains(error_of([] { open_task("partiy"); }), "did you mean \"parity\""));
  EXPECT_TRUE(contains(error_of([] { open_task("qqqqqqqqqqqqqqqqq"); }), "mod5-brackets"));
  const auto parity = open_task("parity");
  EXPECT_TRUE(contains(error_of([&] { settle(*parity, {0, 5}); }), "length 0; expected 1 to 4096"));
  EXPECT_TRUE(contains(error_of([&] { settle(*parity, {5, 4097}); }), "length 4097"));
  EXPECT_TRUE(contains(error_of([&] { settle(*parity, {9, 3}); }), "the smaller one first"));
  EXPECT_TRUE(contains(error_of([] { settle(*open_task("even-pairs"), {1, 1}); }), "expected 2"));
}

TEST(Task, ScoresCountFinalPrefixAndSequence) {
  TaskScore score;
  const std::vector<std::int32_t> targets = {kNoTarget, 3, 4, 5};
  score.add(targets, std::vector<std::int32_t>{9, 3, 4, 5});
  score.add(targets, std::vector<std::int32_t>{3, 3, 0, 5});
  score.add(targets, std::vector<std::int32_t>{3, 3, 4, 0});
  const auto s5 = open_task("s5");
  EXPECT_DOUBLE_EQ(score.value(*s5, TaskMetric::accuracy), 2.0 / 3);
  EXPECT_DOUBLE_EQ(score.value(*s5, TaskMetric::accuracy_prefix), 7.0 / 9);
  EXPECT_DOUBLE_EQ(score.value(*s5, TaskMetric::accuracy_sequence), 1.0 / 3);
  EXPECT_DOUBLE_EQ(score.value(*open_task("addition"), TaskMetric::accuracy), 7.0 / 9);
  EXPECT_TRUE(contains(error_of([&] { score.add(targets, {}); }), "0 predictions for 4"));
  const std::vector<std::int32_t> none = {kNoTarget};
  EXPECT_TRUE(contains(error_of([&] { score.add(none, none); }), "without supervised"));
  EXPECT_DOUBLE_EQ(above_chance(0.5, 0.5), 0);
  EXPECT_DOUBLE_EQ(above_chance(0.6, 0.2), 0.5);
}

// Against leaving out one example at a time (the jackknife), which for a mean is exact and for a
// ratio close.
TEST(Task, StandardErrors) {
  const auto addition = open_task("addition");
  const auto parity = open_task("parity");
  std::vector<std::vector<std::int32_t>> targets, predicted;
  const RandomStream stream(5, "errors", 0);
  for (std::uint64_t i = 0; i < 60; ++i) {
    const auto size = 2 + stream.below(6, 3 * i);
    targets.emplace_back(size, 1);
    predicted.emplace_back(size, 1);
    for (std::size_t t = 0; t < size; ++t)
      if (stream.below(10, 1000 + 10 * i + t) < 3) predicted.back()[t] = 0;
  }
  const auto score_without = [&](std::size_t left_out) {
    TaskScore score;
    for (std::size_t i = 0; i < targets.size(); ++i)
      if (i != left_out) score.add(targets[i], predicted[i]);
    return score;
  };
  const auto jackknife = [&](const Task& task, TaskMetric metric) {
    const auto n = static_cast<double>(targets.size());
    std::vector<double> values;
    double mean = 0;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      values.push_back(score_without(i).value(task, metric));
      mean += values.back() / n;
    }
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    return std::sqrt(squares * (n - 1) / n);
  };
  const auto all = score_without(targets.size());
  EXPECT_NEAR(all.error(*parity, TaskMetric::accuracy), jackknife(*parity, TaskMetric::accuracy),
              1e-12);
  EXPECT_NEAR(all.error(*addition, TaskMetric::accuracy_sequence),
              jackknife(*addition, TaskMetric::accuracy_sequence), 1e-12);
  const double ratio = jackknife(*addition, TaskMetric::accuracy);
  EXPECT_NEAR(all.error(*addition, TaskMetric::accuracy), ratio, 0.05 * ratio);
}

}  // namespace
}  // namespace rondo::testing
