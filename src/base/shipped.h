// Where the files that come with the program (data/, recipes/) lie.
#pragma once

#include <vector>

#include "base/files.h"

namespace rondo {

/// Folders that may hold the shipped files: RONDO_HOME alone when it is set; else share/rondo
/// beside the program's bin folder (an installation), then the folders above the program's own (a
/// build folder inside the source tree).
std::vector<fs::path> shipped_roots();

/// Where `path` is: as given when it exists or does not name a shipped file; a relative path that
/// begins with data/ or recipes/ and does not exist is looked for below the shipped roots. Returned
/// unchanged when it is nowhere, so that the reader's error names what the user wrote.
fs::path find_shipped(const fs::path& path);

}  // namespace rondo
