// The part of `rondo eval` that scores tasks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/json.h"
#include "eval/open_model.h"

namespace rondo {

/// What was asked for.
struct TaskRequest {
  std::string task;
  std::optional<std::string> lengths;  ///< as given: "32,40"
  std::optional<std::string> split;    ///< validation or test
  std::int64_t examples = 0;           ///< per length; 0 = the recipe's
};

/// The rows of one task, a set of examples per length, each at all of `loops`. Nothing when an
/// interrupt is wished. Throws input errors.
std::optional<Json> score_task(const OpenedModel& opened, const TaskRequest& request,
                               std::span<const std::int64_t> loops);

/// The rows for people, losses left out.
void print_task_rows(const Json& rows);

}  // namespace rondo
