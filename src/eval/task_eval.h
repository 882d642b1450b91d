// Loss and accuracy of a model on a task's examples, after any number of loops at once.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/json.h"
#include "config/config.h"
#include "data/task_data.h"
#include "data/task_score.h"
#include "model/model.h"

namespace rondo {

/// Logits [N, V] of N positions of what is read out, [N, D].
using Head = std::function<Tensor(const Tensor& read_ND)>;

/// Σ weight · cross-entropy over the targets of a batch (Batch::weights), in nats; a scalar.
/// `read_BSD` is what the head reads at S positions from `first` on; it sees those with a target
/// only, often one of a sequence.
Tensor weighted_loss(const Tensor& read_BSD, const Head& head, const Batch& batch,
                     std::int64_t first = 0);

/// Scores after `loops` loops.
struct TaskResult {
  std::int64_t loops = 0;
  double loss_nats = 0;    ///< mean over examples of the mean over their targets
  double stderr_nats = 0;  ///< of that mean; NaN for one example
  TaskScore score = {};
};

/// Results after each number of loops in `loops` (each ≥ 1, ascending). Examples are run together
/// as far as memory allows; who stands beside whom changes nothing. Stops early, with nothing, when
/// an interrupt is wished.
std::vector<TaskResult> evaluate_task(const Model& model, std::span<const TaskSample> samples,
                                      std::span<const std::int64_t> loops);

/// The loop counts that a task is scored at unless told otherwise: 1, T, 2T and 4T for a model that
/// loops, else one.
std::vector<std::int64_t> task_loops(const Config& config);

/// The results of a set as rows: the task's metrics and the loss, each with its standard error and
/// with what answers without knowledge of the input score (chance, majority).
Json task_rows(const Task& task, const TaskExamples& set, std::span<const TaskResult> results);

}  // namespace rondo
