// Files that are either wholly written or not there at all, and locks that keep two programs apart.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace rondo {

namespace fs = std::filesystem;

/// Whole content of a file. Throws an input error that names it when it cannot be read.
std::string read_file(const fs::path& path);

/// Writes to a temporary name beside `path`, syncs, renames. Throws an error of the work.
void write_file_atomically(const fs::path& path, std::string_view content);

/// Makes a file's or folder's data durable (fsync).
void sync_path(const fs::path& path);

/// Creates a folder with its parents. Throws an input error that says why not.
void create_folder(const fs::path& path);

/// Bytes that a normal user may still write on the file system that holds `path` (or will hold it).
std::uintmax_t free_disk_bytes(const fs::path& path);

/// SHA-256 as 64 hex digits.
std::string sha256(std::string_view content);
std::string sha256_of_file(const fs::path& path);

/// An exclusive lock on a file for as long as the object lives; the system frees it when the
/// process dies, however it dies.
class FileLock {
 public:
  /// The lock, or nothing when another process holds it. Creates the file.
  static std::optional<FileLock> try_lock(const fs::path& path);
  /// Whether some process holds the lock; never creates the file.
  static bool is_held(const fs::path& path);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace rondo
