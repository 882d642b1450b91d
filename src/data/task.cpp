// The task table, streams of examples, and what generators share.
#include "data/task.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "data/batches.h"
#include "data/task_generators.h"
#include "data/task_tokens.h"

namespace rondo {
namespace {

// Redraws that keep the length, and as many again that need not.
constexpr std::uint64_t kRedraws = 4096;
// Examples of a length looked at for one that is not excluded.
constexpr std::uint64_t kTrials = 16384;

Task s5_task() { return group_task("s5", *open_group("s5"), {}, "products of permutations of 5"); }
Task s5_swaps_task() {
  return group_task("s5-swaps", *open_group("s5"), swaps(5), "products of swaps of 5 points");
}
Task a5_task() {
  return group_task("a5", *open_group("a5"), {}, "products of even permutations of 5");
}
Task z60_task() { return group_task("z60", *open_group("z60"), {}, "running sums modulo 60"); }

struct Entry {
  const char* name;
  Task (*make)();
};

constexpr std::array<Entry, 10> kTasks = {{{"parity", parity_task},
                                           {"addition", addition_task},
                                           {"mod5-flat", mod5_flat_task},
                                           {"mod5-brackets", mod5_brackets_task},
                                           {"s5", s5_task},
                                           {"s5-swaps", s5_swaps_task},
                                           {"a5", a5_task},
                                           {"z60", z60_task},
                                           {"even-pairs", even_pairs_task},
                                           {"cycle", cycle_task}}};

}  // namespace

std::string_view name_of(TaskMetric metric) {
  if (metric == TaskMetric::accuracy) return "accuracy";
  return metric == TaskMetric::accuracy_prefix ? "accuracy_prefix" : "accuracy_sequence";
}

std::string_view name_of(TaskSplit split) {
  if (split == TaskSplit::training) return "training";
  return split == TaskSplit::validation ? "validation" : "test";
}

Draws::Draws(std::uint64_t seed, std::string name, std::uint64_t index, std::uint64_t attempt)
    : seed_(seed),
      name_(std::move(name)),
      index_(index),
      attempt_(attempt),
      stream_(seed, name_, index),
      position_(attempt << 32) {}

std::int64_t Draws::below(std::int64_t bound) {
  return static_cast<std::int64_t>(stream_.below(static_cast<std::uint64_t>(bound), position_++));
}

std::int64_t Draws::within(TaskRange range) {
  if (range.min == range.max) return range.min;
  return range.min + below(range.max - range.min + 1);
}

std::uint64_t Draws::permuted(std::uint64_t count) const {
  const RandomStream order(seed_, name_ + "/order", index_ / count);
  return Permutation(order, count)((index_ + attempt_) % count);
}

std::vector<std::string> task_names() {
  std::vector<std::string> names;
  for (const auto& entry : kTasks) names.emplace_back(entry.name);
  return names;
}

std::shared_ptr<const Task> open_task(const std::string& name) {
  for (const auto& entry : kTasks)
    if (name == entry.name) return std::make_shared<const Task>(entry.make());
  if (name.ends_with(".jsonl")) return std::make_shared<const Task>(file_task(name));
  if (const auto group = open_group(name))
    return std::make_shared<const Task>(group_task(
        name, *group, {}, fmt::format("products in a group of {} elements", group->order)));
  const auto names = task_names();
  const auto close = nearest(name, names);
  if (close)
    fail("task \"{}\": there is none of that name; did you mean \"{}\"?", one_line(name), *close);
  fail(
      "task \"{}\": there is none of that name; expected {}, a group such as z7 or a4xz5, or a "
      "file *.jsonl",
      one_line(name), join(names, ", "));
}

std::shared_ptr<const Task> open_prefix_parity() {
  return std::make_shared<const Task>(prefix_parity_task());
}

Task label_at_last(Task task) {
  task.generate = [marked = std::move(task.generate)](Draws& draws, TaskRange lengths) {
    auto sample = marked(draws, lengths);
    const auto label = sample.targets.back();
    sample.input.pop_back(), sample.tokens.pop_back(), sample.targets.pop_back();
    sample.targets.back() = label;
    return sample;
  };
  return task;
}

TaskRange settle(const Task& task, TaskRange range) {
  require(range.min <= range.max, "task {}: lengths from {} to {}; expected the smaller one first",
          task.name, range.min, range.max);
  require(range.min >= task.shortest && range.max <= task.longest,
          "task {}: length {}; expected {} to {}", task.name,
          range.min < task.shortest ? range.min : range.max, task.shortest, task.longest);
  if (!task.odd_lengths) return range;
  const bool single = range.min == range.max;
  if (range.max % 2 == 0) --range.max;
  if (single) return {.min = range.max, .max = range.max};
  if (range.min % 2 == 0) ++range.min;
  return range;
}

TaskStream::TaskStream(std::shared_ptr<const Task> task, std::uint64_t seed, TaskSplit split,
                       TaskRange lengths)
    : task_(std::move(task)), seed_(seed), lengths_(settle(*task_, lengths)) {
  // A file gives the same examples wherever it lies.
  const std::string name = task_->name.ends_with(".jsonl") ? "file" : task_->name;
  name_ = fmt::format("task/{}/{}/{}-{}", name, name_of(split), lengths_.min, lengths_.max);
}

void TaskStream::exclude(std::span<const TaskSample> samples) {
  std::set<std::int64_t> lengths;
  for (const auto& sample : samples) {
    excluded_.insert(sample.input);
    if (sample.length >= lengths_.min && sample.length <= lengths_.max)
      lengths.insert(sample.length);
  }
  const auto is_taken = [&](std::int64_t length) {
    const auto single = settle(*task_, {.min = length, .max = length});
    for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
      Draws draws(seed_, name_, trial);
      if (!excluded_.contains(task_->generate(draws, single).input)) return false;
    }
    return true;
  };
  for (const auto length : lengths)
    if (is_taken(length)) taken_.insert(length);
}

TaskSample TaskStream::sample(std::uint64_t index) const {
  // A redraw keeps the length, or lengths with many excluded inputs would be drawn less.
  std::optional<std::int64_t> length;
  for (std::uint64_t attempt = 0; attempt < 2 * kRedraws; ++attempt) {
    Draws draws(seed_, name_, index, attempt);
    TaskSample sample = task_->generate(draws, lengths_);
    if (excluded_.empty()) return sample;
    if (!length && !taken_.contains(sample.length)) length = sample.length;
    const bool fits = length == sample.length || attempt >= kRedraws;
    if (fits && !excluded_.contains(sample.input)) return sample;
  }
  fail(
      "task {}: lengths {} to {} hold too few examples that are not in another split; expected "
      "longer ones",
      task_->name, lengths_.min, lengths_.max);
}

TaskSample label_sample(std::string_view text, char label) {
  TaskSample sample;
  sample.input = std::string(text) + "=";
  sample.target = label;
  sample.length = static_cast<std::int64_t>(text.size());
  sample.tokens = {kTaskBos};
  append_bytes(sample.input, sample.tokens);
  sample.targets.assign(sample.tokens.size(), kNoTarget);
  sample.targets.back() = static_cast<unsigned char>(label);
  return sample;
}

TaskSample answer_sample(const std::string& input, const std::string& target, std::int64_t length) {
  TaskSample sample;
  sample.input = input;
  sample.target = target;
  sample.length = length;
  sample.tokens = {kTaskBos};
  append_bytes(input, sample.tokens);
  sample.targets.assign(sample.tokens.size() - 1, kNoTarget);
  append_bytes(target, sample.tokens);
  append_bytes(target, sample.targets);
  sample.targets.push_back(kTaskEos);
  return sample;
}

std::vector<TaskSet> sets_of(const std::vector<std::int64_t>& lengths, std::int64_t examples) {
  std::vector<TaskSet> sets;
  for (const auto length : lengths)
    sets.push_back({.lengths = {.min = length, .max = length}, .examples = examples});
  return sets;
}

void set_label_protocol(Task& task) {
  task.training = {.min = 3, .max = 40};
  task.validation = sets_of({32, 36, 40}, 256);
  task.test = sets_of({32, 40, 48, 64, 96, 128, 192, 256}, 1024);
  task.metrics = {TaskMetric::accuracy};
}

TaskRates label_rates(const Task& task, TaskRange lengths,
                      const std::function<std::vector<double>(std::int64_t)>& distribution) {
  std::vector<double> sum;
  double count = 0;
  const std::int64_t step = task.odd_lengths ? 2 : 1;
  for (std::int64_t length = lengths.min; length <= lengths.max; length += step, ++count) {
    const auto labels = distribution(length);
    sum.resize(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) sum[i] += labels[i];
  }
  return {.chance = 1.0 / static_cast<double>(sum.size()),
          .majority = *std::max_element(sum.begin(), sum.end()) / count};
}

}  // namespace rondo
