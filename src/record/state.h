// What a stop reason says about a run.
#pragma once

#include <string_view>

#include "record/run.h"

namespace rondo {

/// The stop reasons that the trainer writes; records of other programs may have any other word,
/// which counts as finished.
inline constexpr const char* kStopFinished = "finished";
inline constexpr const char* kStopAfter = "stop_after";
inline constexpr const char* kStopInterrupted = "interrupted";
inline constexpr const char* kStopDiverged = "diverged";
inline constexpr const char* kStopFailed = "failed";

/// State of a run that no process works on, from its stop reason.
RunState state_after(std::string_view stop_reason);

}  // namespace rondo
