// Another program's training steps, measured in turn with ours.
#pragma once

#include <map>
#include <string>

namespace rondo {

/// Seconds of a step by case.
using PeerTimes = std::map<std::string, double>;

/// Runs `command` in the shell and reads its stdout: each line that is a JSON object with `case`,
/// `metric` ("step_time_s" or "step_s") and `value` is a result, other lines are passed over;
/// "train_step_a44" is the case a44. Its stderr is ours. Throws an input error when it fails or has
/// no result.
PeerTimes run_peer(const std::string& command);

/// The results among the lines of `text`.
PeerTimes read_peer(const std::string& text);

}  // namespace rondo
