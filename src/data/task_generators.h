// The generators behind the task table, one file each, and what they share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "data/group.h"
#include "data/task.h"

namespace rondo {

Task parity_task();
Task prefix_parity_task();
Task addition_task();
Task mod5_flat_task();
Task mod5_brackets_task();
Task even_pairs_task();
Task cycle_task();
/// Products of `alphabet` (elements of the group that inputs are drawn from; empty = all).
Task group_task(const std::string& name, const Group& group, std::vector<int> alphabet,
                const std::string& summary);
/// A user's examples: one JSON object a line with strings `input`, `target` and, where wanted, a
/// whole number `length` (default: bytes of the input). Throws an input error that names file and
/// line.
Task file_task(const fs::path& file);

/// A file's examples in two parts without a common input.
struct FileParts {
  Task training;  ///< of the lengths that are trained on
  Task held_out;  ///< examples of those lengths, and all of other lengths
};

/// `validation` is the share of each length's examples to hold out, or a file of its own. The
/// choice depends on the inputs alone. Zero lengths stand for the file's own. Throws input errors
/// as file_task does, for too few examples, and for an input that is in both files.
FileParts split_file_task(const std::string& file, const std::string& validation,
                          TaskRange trained);

/// BOS, `text`, '='; the label is supervised at the '='.
TaskSample label_sample(std::string_view text, char label);
/// BOS, `input`, `target`; the bytes of the target and then EOS are supervised.
TaskSample answer_sample(const std::string& input, const std::string& target, std::int64_t length);

/// Published sizes: 256 examples for validation and 1024 for test at each length.
std::vector<TaskSet> sets_of(const std::vector<std::int64_t>& lengths, std::int64_t examples);
/// Parity's protocol: training on 3 to 40, validation at 32, 36, 40, test up to 256.
void set_label_protocol(Task& task);

/// Rates of a task with one label per example. `distribution(length)` has the probability of each
/// label.
TaskRates label_rates(const Task& task, TaskRange lengths,
                      const std::function<std::vector<double>(std::int64_t)>& distribution);

}  // namespace rondo
