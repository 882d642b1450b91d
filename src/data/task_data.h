// From the `[data]` section of a recipe to a task's batches and held-out examples.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "data/batches.h"
#include "data/task.h"

namespace rondo {

/// Examples to be scored together.
struct TaskExamples {
  TaskRange lengths;
  std::string split;  ///< "validation" or "test"
  std::vector<TaskSample> samples;
  bool trained = false;  ///< whether the lengths are among those trained on
};

/// Examples side by side, filled up with kTaskPad. An example's targets weigh 1 / (its number of
/// targets · `examples`), so that weighted losses of all batches of so many examples add up to the
/// mean over examples of the mean over targets.
Batch task_batch(std::span<const TaskSample> samples, std::int64_t examples);

/// Examples 0, 1, … of a stream. Where a task's test sets must not repeat (Task::identity), those
/// that do are passed over; an input error when there are too few.
std::vector<TaskSample> draw_examples(const Task& task, const TaskStream& stream,
                                      std::int64_t count);

/// The length that stands for `length` of a task's protocol where `trained` (settled) is trained
/// on: the same multiple of the longest.
std::int64_t scaled_length(const Task& task, std::int64_t length, TaskRange trained);

/// The task of a recipe, ready to be trained and scored. Copies share the examples.
class TaskData {
 public:
  /// `data` is resolved. Throws input errors: no such task, lengths that it does not have, a file
  /// that is missing or wrong (file and line), too few examples.
  explicit TaskData(const DataConfig& data);

  [[nodiscard]] const Task& task() const { return *held_out_; }
  /// Lengths trained on, as settled.
  [[nodiscard]] TaskRange lengths() const { return lengths_; }
  /// Tokens of the longest example that is trained on, and of examples in the mean (estimated from
  /// the first ones).
  [[nodiscard]] std::int64_t longest_row() const { return longest_row_; }
  [[nodiscard]] double mean_row() const { return mean_row_; }
  /// Different examples to train on; 0 = no end.
  [[nodiscard]] std::int64_t training_examples() const { return training_examples_; }

  /// Training example `index`, a function of (data.seed, index); none is among the held-out ones.
  [[nodiscard]] TaskSample training(std::uint64_t index) const { return stream_->sample(index); }

  /// Examples first … first + count − 1, sorted by length and cut into batches of `rows`.
  [[nodiscard]] std::vector<Batch> batches(std::uint64_t first, std::int64_t count,
                                           std::int64_t rows) const;

  /// What is validated on while training.
  [[nodiscard]] const std::vector<TaskExamples>& validation() const { return *validation_; }
  /// What answers without knowledge of the input score there, by the first metric.
  [[nodiscard]] TaskRates guess() const;
  /// What the length sweep is made on, by length; or the same at other lengths or numbers
  /// (0 = the recipe's). Throws an input error for a length that the task does not have as asked.
  [[nodiscard]] std::vector<TaskExamples> test() const;
  [[nodiscard]] std::vector<TaskExamples> test(std::span<const std::int64_t> lengths,
                                               std::int64_t examples) const;

  /// Identity of the training and validation examples; 64 hex digits.
  [[nodiscard]] const std::string& sha256() const { return sha256_; }
  /// One line for people.
  [[nodiscard]] const std::string& description() const { return description_; }

 private:
  [[nodiscard]] std::vector<TaskExamples> draw(TaskSplit split, std::uint64_t seed,
                                               const std::vector<TaskSet>& sets) const;
  void describe();

  DataConfig data_;
  std::shared_ptr<const Task> trained_, held_out_;  ///< differ only for a file
  TaskRange lengths_;
  std::vector<TaskSet> test_sets_;
  std::shared_ptr<const std::vector<TaskExamples>> validation_;
  std::shared_ptr<const TaskStream> stream_;
  std::int64_t longest_row_ = 0, training_examples_ = 0;
  double mean_row_ = 0;
  std::string sha256_, description_;
};

/// All examples of a file, by length, at most a thousand each; or those of these lengths.
/// `examples` is the most per length, 0 = a thousand. Throws an input error for a length that does
/// not occur.
std::vector<TaskExamples> file_examples(const Task& file, std::span<const std::int64_t> lengths,
                                        std::int64_t examples);

/// The sets that a recipe asks for: its own lengths and numbers, else those of the protocol, whose
/// lengths keep their ratio to the longest one trained on. `key` names test lengths in errors.
std::vector<TaskSet> validation_sets(const Task& task, const DataConfig& data, TaskRange trained);
std::vector<TaskSet> test_sets(const Task& task, const DataConfig& data, TaskRange trained,
                               const char* key = "data.test_lengths");

}  // namespace rondo
