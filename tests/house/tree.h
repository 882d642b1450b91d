// Reads the source tree as text for the house rules. Tests run in the repository's root.
#pragma once

#include <string>
#include <vector>

namespace rondo::house {

struct SourceFile {
  std::string path;  ///< relative to the root, such as "src/base/error.h"
  std::vector<std::string> lines;

  /// "h", "cpp", "txt", …; empty for names without a dot.
  std::string extension() const;
  /// "base" for "src/base/error.h"; empty for files that belong to no layer.
  std::string layer() const;
};

/// All regular files below `folder`, sorted by path.
std::vector<SourceFile> read_folder(const std::string& folder);

/// All files that belong to the repository: its known folders and the files in its root, but
/// nothing that builds and runs leave there.
std::vector<SourceFile> read_repository();

}  // namespace rondo::house
