// From data to the sequences that probes read.
#pragma once

#include <span>

#include "data/batches.h"
#include "data/task.h"
#include "diagnose/sequences.h"

namespace rondo {

/// Windows of text, evenly spread over the set, with exactly `positions` positions; 0 = all of the
/// set. Throws an input error when it has fewer; `name` says in errors what it is.
ProbeSequences text_sequences(const ValidationSet& set, std::int64_t positions,
                              const std::string& name);

/// Examples of a task, lengths mixed, likewise.
ProbeSequences task_sequences(std::vector<TaskSample> samples, std::int64_t positions,
                              const std::string& name);

}  // namespace rondo
