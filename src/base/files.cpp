// Atomic writes, durability, hashes and locks over POSIX and OpenSSL.
#include "base/files.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "base/error.h"

namespace rondo {
namespace {

std::string reason() { return std::strerror(errno); }

/// A lock that belongs to the open file, as flock's does, but that can also be asked about without
/// being taken: who only looks is never in the way of who wants it.
struct flock whole_file_lock() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new()) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }
  void add(const void* data, std::size_t size) { EVP_DigestUpdate(context_.get(), data, size); }
  std::string hex() {
    std::array<unsigned char, 32> digest{};
    EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr);
    std::string text;
    for (const unsigned char byte : digest) text += fmt::format("{:02x}", byte);
    return text;
  }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

}  // namespace

std::string read_file(const fs::path& path) {
  std::error_code ignored;
  require(!fs::is_directory(path, ignored), "{}: is a folder; expected a file", path.string());
  std::ifstream in(path, std::ios::binary);
  require(in.good(), "{}: cannot be read ({})", path.string(), reason());
  std::ostringstream content;
  content << in.rdbuf();
  require(!in.bad(), "{}: reading failed ({})", path.string(), reason());
  return std::move(content).str();
}

void write_file_atomically(const fs::path& path, std::string_view content) {
  const fs::path temporary = path.string() + fmt::format(".{}.tmp", ::getpid());
  const auto give_up = [&](const std::string& why) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    fail_work("{}: cannot be written ({})", path.string(), why);
  };
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    out.close();
    if (!out.good()) give_up(reason());
  }
  sync_path(temporary);
  std::error_code error;
  fs::rename(temporary, path, error);
  if (error) give_up(error.message());
}

void sync_path(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail_work("{}: cannot be opened to sync it ({})", path.string(), reason());
  const int failed = ::fsync(descriptor);
  const std::string why = reason();
  ::close(descriptor);
  if (failed != 0) fail_work("{}: cannot be made durable ({})", path.string(), why);
}

void create_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  require(!error && fs::is_directory(path), "{}: the folder cannot be created ({})", path.string(),
          error ? error.message() : "a file of that name is in the way");
}

std::uintmax_t free_disk_bytes(const fs::path& path) {
  fs::path existing = fs::absolute(path);
  while (!fs::exists(existing) && existing.has_parent_path() && existing != existing.root_path())
    existing = existing.parent_path();
  std::error_code error;
  const auto space = fs::space(existing, error);
  require(!error, "{}: the free disk space cannot be read ({})", path.string(), error.message());
  return space.available;
}

std::string sha256(std::string_view content) {
  Sha256 hash;
  hash.add(content.data(), content.size());
  return hash.hex();
}

std::string sha256_of_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  require(in.good(), "{}: cannot be read ({})", path.string(), reason());
  Sha256 hash;
  std::string buffer(1 << 20, '\0');
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0)
    hash.add(buffer.data(), static_cast<std::size_t>(in.gcount()));
  require(!in.bad(), "{}: reading failed ({})", path.string(), reason());
  return hash.hex();
}

std::optional<FileLock> FileLock::try_lock(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  require(descriptor >= 0, "{}: cannot be written ({})", path.string(), reason());
  struct flock lock = whole_file_lock();
  if (::fcntl(descriptor, F_OFD_SETLK, &lock) != 0) {
    ::close(descriptor);
    return std::nullopt;
  }
  return FileLock(descriptor);
}

bool FileLock::is_held(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct flock lock = whole_file_lock();
  const bool held = ::fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  ::close(descriptor);
  return held;
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace rondo
