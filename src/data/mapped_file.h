// A file as memory: large inputs are read without being loaded.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/files.h"

namespace rondo {

/// A regular file, mapped read-only for as long as the object lives. The file must not be cut
/// shorter meanwhile.
class MappedFile {
 public:
  /// Throws an input error that names the file when it is missing, not a regular file, or cannot be
  /// read.
  explicit MappedFile(const fs::path& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  /// The content; the address of the first byte is aligned to a page.
  [[nodiscard]] std::string_view content() const {
    return {static_cast<const char*>(address_), size_};
  }

 private:
  void* address_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace rondo
