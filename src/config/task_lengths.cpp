// Lengths of tasks by name.
#include "config/task_lengths.h"

#include <algorithm>

namespace rondo {

bool has_label(std::string_view task) {
  return std::find(kLabelTasks.begin(), kLabelTasks.end(), task) != kLabelTasks.end();
}

bool is_task_file(std::string_view task) { return task.ends_with(".jsonl"); }

std::optional<TaskLengths> own_lengths(std::string_view task) {
  if (is_task_file(task)) return std::nullopt;
  if (task == "addition") return TaskLengths{1, 8};
  if (task == "mod5-flat") return TaskLengths{3, 39};
  if (has_label(task)) return TaskLengths{3, 40};
  return TaskLengths{32, 32};
}

std::optional<std::int64_t> longest_row(std::string_view task, std::int64_t length,
                                        LabelAt label_at) {
  if (is_task_file(task)) return std::nullopt;
  // BOS, "[a] + [b] =", and " [c]" with one digit more than the operands.
  if (task == "addition") return 3 * length + 14;
  return length + (has_label(task) && label_at == LabelAt::kMark ? 2 : 1);
}

}  // namespace rondo
