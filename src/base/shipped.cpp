// Where the files that come with the program lie.
#include "base/shipped.h"

#include <cstdlib>

namespace rondo {

std::vector<fs::path> shipped_roots() {
  if (const char* home = std::getenv("RONDO_HOME"); home != nullptr && *home != '\0') return {home};
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const fs::path folder = program.parent_path();
  // build/rondo and build/<preset>/rondo are both found by looking two folders up.
  return {folder.parent_path() / "share" / "rondo", folder.parent_path(),
          folder.parent_path().parent_path()};
}

fs::path find_shipped(const fs::path& path) {
  std::error_code ignored;
  if (path.empty() || path.is_absolute() || fs::exists(path, ignored)) return path;
  const fs::path first = *path.begin();
  if (first != "data" && first != "recipes") return path;
  for (const fs::path& root : shipped_roots()) {
    fs::path candidate = root / path;
    if (fs::exists(candidate, ignored)) return candidate;
  }
  return path;
}

}  // namespace rondo
