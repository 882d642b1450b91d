// What a recipe has to know of a task before the task is opened: the lengths that it is trained on
// and how many tokens an example has. docs/tasks.md describes the tasks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "config/enums.h"

namespace rondo {

/// Ids that tasks are written in: the 256 bytes and 21 specials.
inline constexpr std::int64_t kTaskIds = 277;

/// The longest example of a task.
inline constexpr std::int64_t kLongestTask = 4096;

/// Lengths in the task's own unit.
struct TaskLengths {
  std::int64_t min, max;
};

/// Whether the name of a task is that of a file with a user's examples.
bool is_task_file(std::string_view task);

/// Tasks with one label an example, which end in a '=' where it is due.
inline constexpr std::array<std::string_view, 5> kLabelTasks = {
    "parity", "mod5-flat", "mod5-brackets", "even-pairs", "cycle"};
bool has_label(std::string_view task);

/// The lengths that a task is trained on unless a recipe says otherwise; nothing for a file, which
/// has what it has. A name that no task has gives what a group has; opening it is an error.
std::optional<TaskLengths> own_lengths(std::string_view task);

/// Tokens of the longest example of a length, BOS and all that is read; nothing for a file.
std::optional<std::int64_t> longest_row(std::string_view task, std::int64_t length,
                                        LabelAt label_at);

}  // namespace rondo
