// What a run trains and validates on: text cut into windows, or a task's examples.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "data/dataset.h"
#include "data/task_data.h"
#include "model/model.h"

namespace rondo {

/// The micro-batches of a step (from 1), a function of the step alone.
using StepBatches = std::function<std::vector<Batch>(std::int64_t step)>;

/// Windows of a stream, `train.batch` a step. The set must outlive the result.
StepBatches window_batches(const TrainingSet& data, const TrainConfig& train);

/// A validation after `loops` loops.
struct Validation {
  std::int64_t loops = 0;
  double loss_nats = 0, stderr_nats = 0;
  std::optional<double> bits_per_byte;  ///< text
  std::optional<double> accuracy;       ///< tasks: the first of the task's metrics
};

/// Opened data of a recipe.
class RunData {
 public:
  /// Throws input errors: nothing there, wrong content, too little of it.
  explicit RunData(const DataConfig& data);

  /// The recipe with what only the data tell: lengths of a file's examples.
  [[nodiscard]] Config completed(Config config) const;
  /// Ids that the data use.
  [[nodiscard]] std::int64_t vocab() const;
  /// The task, or nothing for text.
  [[nodiscard]] const TaskData* task() const { return std::get_if<TaskData>(&data_); }

  [[nodiscard]] const std::string& sha256() const;
  [[nodiscard]] const std::string& description() const;
  /// What `data.path` or `data.task` names.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Tokens of an epoch; 0 for a task that has no end.
  [[nodiscard]] double training_tokens() const;
  /// Tokens of a training sequence in the mean.
  [[nodiscard]] double tokens_per_sequence() const;

  /// The micro-batches of steps. This object must outlive the result.
  [[nodiscard]] StepBatches batches(const TrainConfig& train) const;
  /// Held-out loss after each number of loops (ascending); nothing when an interrupt is wished.
  [[nodiscard]] std::vector<Validation> validate(const Model& model,
                                                 std::span<const std::int64_t> loops) const;

 private:
  struct Text {
    Dataset set;
    ValidationSet validation;
  };
  static std::variant<Text, TaskData> open(const DataConfig& data);

  std::string name_;
  std::variant<Text, TaskData> data_;
};

}  // namespace rondo
