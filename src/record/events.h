// What a run writes down while it goes, as values. Numbers that a record does not have are NaN, so
// that runs of other programs, which know fewer or more keys, can be read too.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace rondo {

/// The number a record does not have.
inline constexpr double kNotRecorded = std::numeric_limits<double>::quiet_NaN();

/// One optimiser step (a line of metrics.jsonl without an `event`).
struct StepEvent {
  std::int64_t step = 0;
  double tokens = kNotRecorded, flops = kNotRecorded;  ///< since the start of the run
  double loops = kNotRecorded, backward_loops = kNotRecorded;
  double train_loss_nats = kNotRecorded;
  double learning_rate = kNotRecorded;
  double gradient_norm = kNotRecorded;
  double step_time_s = kNotRecorded;
  std::vector<double> state_norms = {};  ///< RMS of the state after each loop
};

/// One number of loops in a depth sweep.
struct DepthPoint {
  std::int64_t loops = 0;
  double loss_nats = kNotRecorded;
  double bits_per_byte = kNotRecorded;
  double accuracy = kNotRecorded;
  double stderr_nats = kNotRecorded;  ///< standard error of loss_nats (`stderr` in the file)
};

/// One score of a length sweep: a task's examples of one length.
struct LengthPoint {
  std::int64_t length = 0, loops = 0;
  std::string metric;  ///< "accuracy", …
  double value = kNotRecorded;
  double error = kNotRecorded;  ///< standard error over examples (`stderr` in the file)
  double chance = kNotRecorded, majority = kNotRecorded;
  double examples = kNotRecorded;
  bool trained = false;  ///< whether examples of the length were trained on
};

/// One validation while training; the last one carries the depth sweep.
struct ValidationEvent {
  std::int64_t step = 0;
  double tokens = kNotRecorded, flops = kNotRecorded;
  double validation_loss_nats = kNotRecorded;
  double bits_per_byte = kNotRecorded;
  double accuracy = kNotRecorded;
  std::vector<DepthPoint> by_loops = {};
};

/// The end of a run or of a part of it.
struct StopEvent {
  std::int64_t step = 0;
  std::string stop_reason;
  std::string message;  ///< what went wrong, in words; often empty
};

/// Counts of the model's numbers.
struct RecordedParameters {
  double total = kNotRecorded, embedding = kNotRecorded;
  double once = kNotRecorded, recurrent = kNotRecorded, non_embedding = kNotRecorded;
};

/// What is known of a run as a whole: summary.json, and before its end the `started` event, which
/// has the same keys as far as they are known then.
struct RunSummary {
  double steps = kNotRecorded, tokens = kNotRecorded, flops = kNotRecorded;
  double train_loss_nats = kNotRecorded, validation_loss_nats = kNotRecorded;
  double bits_per_byte = kNotRecorded, accuracy = kNotRecorded;
  double tokens_per_s = kNotRecorded, wall_s = kNotRecorded, peak_bytes = kNotRecorded;
  RecordedParameters parameters;
  double flops_per_token_train = kNotRecorded, flops_per_token_forward = kNotRecorded;
  double effective_depth = kNotRecorded;
  double trained_loops_min = kNotRecorded, trained_loops_max = kNotRecorded;
  std::vector<DepthPoint> depth_sweep;
  std::vector<LengthPoint> length_sweep;  ///< of the checkpoint at selected_step
  double selected_step = kNotRecorded;    ///< of lowest validation loss
  std::string stop_reason, message;
  std::string seed, config_hash, version, libtorch, machine, command;
  std::string data_sha256, data_description;
};

/// All events of a run, in the order of writing.
struct Events {
  std::vector<StepEvent> steps;
  std::vector<ValidationEvent> validations;
  std::vector<StopEvent> stops;
  RunSummary started;           ///< from the last `started` event
  bool ends_with_stop = false;  ///< the last event says that the run ended
  std::size_t count = 0;        ///< lines read, events of unknown names included
};

/// Reads the text of a metrics.jsonl. A last line without its newline that is not whole is left
/// out: a process died while writing it. Any other line that is not an event is an input error
/// with `source` and line number.
Events parse_events(std::string_view text, std::string_view source);

/// Reads the text of a summary.json over what `summary` holds. Throws input errors that name
/// `source` and the key. Unknown keys are passed over.
void parse_summary(std::string_view text, std::string_view source, RunSummary& summary);

}  // namespace rondo
