// A file as memory, over POSIX mmap.
#include "data/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace rondo {
namespace {

/// Closes a descriptor at the end of its block.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace

MappedFile::MappedFile(const fs::path& path) {
  // Not blocking: opening a pipe would otherwise wait for its writer.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  require(file.number >= 0, "{}: cannot be read ({})", path.string(), std::strerror(errno));
  struct stat status = {};
  require(::fstat(file.number, &status) == 0, "{}: cannot be read ({})", path.string(),
          std::strerror(errno));
  require(S_ISREG(status.st_mode), "{}: is not a regular file; expected one", path.string());
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;
  void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number, 0);
  require(address != MAP_FAILED, "{}: cannot be mapped into memory ({})", path.string(),
          std::strerror(errno));
  address_ = address;
}

MappedFile::~MappedFile() {
  if (address_ != nullptr) ::munmap(address_, size_);
}

}  // namespace rondo
