// Tasks with exact answers: the six of the recurrent looped transformer (arXiv 2610.07591), further
// group word problems, two of arXiv 2207.02098, and a user's own file. An example is a function of
// (seed, split, task, lengths, index). docs/tasks.md describes each task.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/rng.h"
#include "config/task_lengths.h"

namespace rondo {

/// One example. `targets[t]` is the id to be predicted at position t, having read tokens 0 … t;
/// kNoTarget (batches.h) where nothing is supervised.
struct TaskSample {
  std::vector<std::int32_t> tokens;   ///< BOS first
  std::vector<std::int32_t> targets;  ///< as many
  std::string input;                  ///< what is read, without BOS
  std::string target;                 ///< what is to be answered, without EOS
  std::int64_t length = 0;            ///< in the task's own unit; BOS and a final '=' do not count
};

/// Lengths from `min` to `max`; one length when they are equal.
struct TaskRange {
  std::int64_t min = 0;
  std::int64_t max = 0;
  bool operator==(const TaskRange&) const = default;
};

/// A number of examples of the given lengths.
struct TaskSet {
  TaskRange lengths;
  std::int64_t examples = 0;
};

/// What is measured; the enumerators are the names in records.
enum class TaskMetric {
  accuracy,           ///< of the final label, or of all supervised tokens (Task::final_label)
  accuracy_prefix,    ///< of all supervised tokens
  accuracy_sequence,  ///< of examples with every supervised token right
};
std::string_view name_of(TaskMetric metric);

/// What an answer without knowledge of the input scores.
struct TaskRates {
  double chance = 0;    ///< guessing uniformly among the answers there are
  double majority = 0;  ///< always giving the most frequent one
};

/// Which of three disjoint streams of one seed.
enum class TaskSplit { training, validation, test };
std::string_view name_of(TaskSplit split);

/// The random numbers of one example, drawn one after the other.
class Draws {
 public:
  /// `attempt` chooses other numbers for the same example: its redraws.
  Draws(std::uint64_t seed, std::string name, std::uint64_t index, std::uint64_t attempt = 0);

  /// Uniform in [0, bound).
  std::int64_t below(std::int64_t bound);
  /// Uniform in a range; no number is drawn for a single length.
  std::int64_t within(TaskRange range);
  /// Place of this example among `count` that are gone through in a new order every epoch.
  [[nodiscard]] std::uint64_t permuted(std::uint64_t count) const;

 private:
  std::uint64_t seed_;
  std::string name_;
  std::uint64_t index_;
  std::uint64_t attempt_;
  RandomStream stream_;
  std::uint64_t position_;
};

/// A task: one generator, its protocol, and what its scores compare with.
struct Task {
  std::string name = {};
  std::string summary = {};   ///< one line for people
  std::int64_t shortest = 1;  ///< smallest length there is
  std::int64_t longest = kLongestTask;
  bool odd_lengths = false;  ///< even lengths stand for one less
  bool final_label = true;   ///< `accuracy` is that of the last supervised target
  TaskRange training = {};   ///< lengths trained on
  std::vector<TaskSet> validation = {};
  std::vector<TaskSet> test = {};
  std::vector<TaskMetric> metrics = {};  ///< the first is the one reported
  /// Makes an example of a length from the range (settled), drawn uniformly.
  std::function<TaskSample(Draws&, TaskRange)> generate = {};
  /// Rates of a metric over examples of the range (settled).
  std::function<TaskRates(TaskRange, TaskMetric)> rates = {};
  /// What must be different in every example of a test set; empty: examples may repeat.
  std::function<std::string(const TaskSample&)> identity = {};
  /// Examples of the range, for a task that has only so many; empty: there is no end of them.
  std::function<std::int64_t(TaskRange)> count = {};
};

/// Tasks by name, in the order of the documentation.
std::vector<std::string> task_names();

/// A task whose examples end in '=' without it: the label is due at the last symbol.
Task label_at_last(Task task);

/// Opens a task: one of task_names(), a group (see group.h) or the path of a *.jsonl file. Throws
/// an input error, with the nearest name, for anything else.
std::shared_ptr<const Task> open_task(const std::string& name);

/// Parity with the label of every prefix supervised: after each bit, and again at the `=`.
std::shared_ptr<const Task> open_prefix_parity();

/// The range that is generated when `range` is asked for: where lengths are odd, an even minimum is
/// raised and an even maximum or single length lowered. An input error for lengths that are none.
TaskRange settle(const Task& task, TaskRange range);

/// An unbounded stream of examples, each made from its index alone.
class TaskStream {
 public:
  /// Throws an input error for lengths that the task does not have.
  TaskStream(std::shared_ptr<const Task> task, std::uint64_t seed, TaskSplit split,
             TaskRange lengths);

  /// Never to give an example whose input is among these: such a one is drawn again at its length,
  /// unless nearly the whole length is taken.
  void exclude(std::span<const TaskSample> samples);

  /// Example `index`. Throws an input error when thousands of redraws were all excluded.
  [[nodiscard]] TaskSample sample(std::uint64_t index) const;
  /// Lengths of which every input is excluded, as far as trying shows.
  [[nodiscard]] const std::set<std::int64_t>& taken() const { return taken_; }
  /// As settled.
  [[nodiscard]] TaskRange lengths() const { return lengths_; }

 private:
  std::shared_ptr<const Task> task_;
  std::uint64_t seed_;
  std::string name_;
  TaskRange lengths_;
  std::unordered_set<std::string> excluded_;
  std::set<std::int64_t> taken_;
};

}  // namespace rondo
