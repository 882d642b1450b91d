// Which lengths and how many examples are held out for a recipe.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/task_data.h"

namespace rondo {
namespace {

constexpr std::int64_t kExamples = 256;

/// One set per length, as asked for.
std::vector<TaskSet> sets_at(const Task& task, std::span<const std::int64_t> lengths,
                             std::int64_t examples, const char* key) {
  std::vector<TaskSet> sets;
  for (const auto length : lengths) {
    require(length >= task.shortest && length <= task.longest,
            "{}: task {}: length {}; expected {} to {}", key, task.name, length, task.shortest,
            task.longest);
    const TaskRange single{.min = length, .max = length};
    const TaskRange settled = settle(task, single);
    require(settled == single,
            "{}: task {} has odd lengths only: a score at {} would be one at {}; ask for that", key,
            task.name, length, settled.max);
    if (task.count) examples = std::min(examples, task.count(single));
    sets.push_back({.lengths = single, .examples = examples});
  }
  return sets;
}

/// A set of the protocol for another longest length.
TaskSet scaled(const Task& task, const TaskSet& set, TaskRange trained) {
  // The whole of the trained lengths stays that.
  if (set.lengths == task.training) return {.lengths = trained, .examples = set.examples};
  return {.lengths = {.min = scaled_length(task, set.lengths.min, trained),
                      .max = scaled_length(task, set.lengths.max, trained)},
          .examples = set.examples};
}

std::vector<TaskSet> protocol(const Task& task, const std::vector<TaskSet>& published,
                              TaskRange trained) {
  if (trained == task.training || task.count) return published;
  std::vector<TaskSet> sets;
  for (const auto& set : published) sets.push_back(scaled(task, set, trained));
  return sets;
}

/// The first set of each range: a second one would hold the same examples.
void keep_first(std::vector<TaskSet>& sets) {
  std::vector<TaskSet> kept;
  for (const auto& set : sets)
    if (std::none_of(kept.begin(), kept.end(),
                     [&](const TaskSet& other) { return other.lengths == set.lengths; }))
      kept.push_back(set);
  sets = std::move(kept);
}

void set_examples(std::vector<TaskSet>& sets, const Task& task, std::int64_t examples) {
  for (auto& set : sets) {
    if (examples > 0) set.examples = examples;
    if (task.count) set.examples = std::min(set.examples, task.count(set.lengths));
  }
}

}  // namespace

std::int64_t scaled_length(const Task& task, std::int64_t length, TaskRange trained) {
  if (trained == task.training || task.count) return length;
  const double ratio = static_cast<double>(length) / static_cast<double>(task.training.max);
  auto scaled = std::llround(ratio * static_cast<double>(trained.max));
  if (task.odd_lengths && scaled % 2 == 0) --scaled;
  return std::clamp<std::int64_t>(scaled, task.shortest, task.longest);
}

std::vector<TaskSet> validation_sets(const Task& task, const DataConfig& data, TaskRange trained) {
  std::vector<TaskSet> sets;
  if (!data.validation_lengths.empty()) {
    sets = sets_at(task, data.validation_lengths, kExamples, "data.validation_lengths");
  } else {
    sets = protocol(task, task.validation, trained);
    // Validation stays inside what is trained on.
    for (auto& set : sets) set.lengths.min = std::clamp(set.lengths.min, trained.min, trained.max);
    for (auto& set : sets) set.lengths.max = std::clamp(set.lengths.max, trained.min, trained.max);
  }
  keep_first(sets);
  set_examples(sets, task, data.validation_examples);
  return sets;
}

std::vector<TaskSet> test_sets(const Task& task, const DataConfig& data, TaskRange trained,
                               const char* key) {
  auto sets = data.test_lengths.empty()
                  ? protocol(task, task.test, trained)
                  : sets_at(task, data.test_lengths,
                            task.test.empty() ? kExamples : task.test.front().examples, key);
  keep_first(sets);
  set_examples(sets, task, data.test_examples);
  return sets;
}

}  // namespace rondo
