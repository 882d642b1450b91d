// What was found quickest on this machine, remembered between runs, so that two runs of one recipe
// choose alike even when the candidates are close.
#pragma once

#include <optional>
#include <string>

namespace rondo {

/// The word that was kept under `question` on this machine with this version; nothing when there is
/// none or the file is damaged: a cache is asked again, never a reason to stop.
std::optional<std::string> kept_choice(const std::string& question);

/// Keeps `answer` beside the measurements of the machine, in choices.json. A file that cannot be
/// written is a note in the log.
void keep_choice(const std::string& question, const std::string& answer);

}  // namespace rondo
