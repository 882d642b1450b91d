// What the tests of tasks share: a task's examples, what is supervised, frequencies by counting.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "data/batches.h"
#include "data/task.h"
#include "data/task_tokens.h"

namespace rondo::testing {

inline TaskStream stream_of(const std::string& name, TaskRange lengths, std::uint64_t seed = 7,
                            TaskSplit split = TaskSplit::training) {
  return {open_task(name), seed, split, lengths};
}

inline TaskStream stream_of(const std::string& name, std::int64_t length, std::uint64_t seed = 7) {
  return stream_of(name, {.min = length, .max = length}, seed);
}

/// The ids that are supervised, in order.
inline std::vector<std::int32_t> supervised(const TaskSample& sample) {
  std::vector<std::int32_t> ids;
  for (const auto id : sample.targets)
    if (id != kNoTarget) ids.push_back(id);
  return ids;
}

/// BOS, the text, '='; one label at the end.
inline void expect_label_form(const TaskSample& sample) {
  ASSERT_EQ(sample.tokens.size(), sample.targets.size());
  ASSERT_EQ(sample.tokens.size(), static_cast<std::size_t>(sample.length) + 2);
  EXPECT_EQ(sample.tokens.front(), kTaskBos);
  EXPECT_EQ(sample.tokens.back(), '=');
  EXPECT_EQ(task_text(std::span(sample.tokens).subspan(1)), sample.input);
  EXPECT_EQ(supervised(sample).size(), 1U);
  EXPECT_EQ(task_text(std::span(&sample.targets.back(), 1)), sample.target);
}

/// Share of the most frequent label among examples 0 … count − 1.
inline double counted_majority(const TaskStream& stream, int count) {
  std::map<std::int32_t, int> labels;
  for (int i = 0; i < count; ++i)
    ++labels[stream.sample(static_cast<std::uint64_t>(i)).targets.back()];
  int most = 0;
  for (const auto& [label, times] : labels) most = std::max(most, times);
  return static_cast<double>(most) / count;
}

}  // namespace rondo::testing
