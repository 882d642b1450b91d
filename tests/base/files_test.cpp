// Files: whole or not at all, hashes, locks that another process feels.
#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <iterator>
#include <string>
#include <utility>

#include "base/error.h"

namespace rondo {
namespace {

/// A folder of its own for each test, gone afterwards.
class Files : public testing::Test {
 public:
  Files() : folder_(fs::temp_directory_path() / fmt::format("rondo-files-{}", ::getpid())) {
    create_folder(folder_);
  }
  ~Files() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

 protected:
  const fs::path folder_;
};

template <typename Action>
std::string message(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return fmt::format("{} (exit {})", error.what(), error.exit_status());
  }
  return "nothing was thrown";
}

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST_F(Files, WhatIsWrittenIsRead) {
  const auto path = folder_ / "a.bin";
  const std::string content("one\0two\r\n\xFF", 10);
  write_file_atomically(path, content);
  EXPECT_EQ(read_file(path), content);
  write_file_atomically(path, "shorter");
  EXPECT_EQ(read_file(path), "shorter");
  write_file_atomically(path, "");
  EXPECT_EQ(read_file(path), "");
  EXPECT_EQ(entries(folder_), 1U);
}

TEST_F(Files, AReaderSeesOldOrNewAndNothingBetween) {
  const auto path = folder_ / "swap";
  const std::string old_text(300000, 'a'), new_text(300000, 'b');
  write_file_atomically(path, old_text);
  const pid_t writer = ::fork();
  ASSERT_GE(writer, 0);
  if (writer == 0) {
    for (int i = 0; i < 30; ++i) write_file_atomically(path, i % 2 == 0 ? new_text : old_text);
    ::_exit(0);
  }
  int status = 0, reads = 0;
  while (::waitpid(writer, &status, WNOHANG) == 0) {
    const auto seen = read_file(path);
    ASSERT_TRUE(seen == old_text || seen == new_text) << seen.size();
    ++reads;
  }
  EXPECT_EQ(status, 0);
  EXPECT_GT(reads, 0);
}

TEST_F(Files, ErrorsNameTheFileAndTheReason) {
  const auto missing = (folder_ / "missing").string();
  EXPECT_EQ(message([&] { read_file(missing); }),
            missing + ": cannot be read (No such file or directory) (exit 2)");
  EXPECT_EQ(message([&] { read_file(folder_); }),
            folder_.string() + ": is a folder; expected a file (exit 2)");
  EXPECT_EQ(message([&] { write_file_atomically(missing + "/x", "y"); }),
            missing + "/x: cannot be written (No such file or directory) (exit 1)");
  EXPECT_EQ(message([&] { sha256_of_file(missing); }),
            missing + ": cannot be read (No such file or directory) (exit 2)");
}

TEST_F(Files, AFailedWriteLeavesNothingBehind) {
  create_folder(folder_ / "taken" / "inside");
  EXPECT_EQ(message([&] { write_file_atomically(folder_ / "taken", "x"); }),
            (folder_ / "taken").string() + ": cannot be written (Is a directory) (exit 1)");
  EXPECT_EQ(entries(folder_), 1U);
}

TEST_F(Files, FoldersAreCreatedWithTheirParents) {
  create_folder(folder_ / "a" / "b");
  create_folder(folder_ / "a" / "b");
  EXPECT_TRUE(fs::is_directory(folder_ / "a" / "b"));
  write_file_atomically(folder_ / "file", "x");
  EXPECT_NE(message([&] { create_folder(folder_ / "file"); }).find("cannot be created"),
            std::string::npos);
  EXPECT_NE(message([&] { create_folder(folder_ / "file" / "below"); }).find("cannot be created"),
            std::string::npos);
}

TEST_F(Files, FreeSpaceOfAFolderThatIsNotThereYet) {
  EXPECT_GT(free_disk_bytes(folder_ / "not" / "yet"), 0U);
}

// FIPS 180-4 and the NIST example vectors.
TEST_F(Files, Sha256KnownVectors) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  const std::string million(1000000, 'a');
  const char* hash = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
  EXPECT_EQ(sha256(million), hash);
  write_file_atomically(folder_ / "million", million);
  EXPECT_EQ(sha256_of_file(folder_ / "million"), hash);
  // More than one buffer.
  write_file_atomically(folder_ / "long", million + million);
  EXPECT_EQ(sha256_of_file(folder_ / "long"), sha256(million + million));
}

TEST_F(Files, ALockKeepsAnotherProcessOut) {
  const auto path = folder_ / "lock";
  EXPECT_FALSE(FileLock::is_held(path));
  EXPECT_FALSE(fs::exists(path)) << "asking creates no file";
  auto lock = FileLock::try_lock(path);
  ASSERT_TRUE(lock.has_value());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool kept_out = !FileLock::try_lock(path).has_value() && FileLock::is_held(path);
    ::_exit(kept_out ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(FileLock::try_lock(path).has_value()) << "twice in one process";
  lock.reset();
  EXPECT_FALSE(FileLock::is_held(path));
  EXPECT_TRUE(FileLock::try_lock(path).has_value());
}

TEST_F(Files, ALockDiesWithItsProcess) {
  const auto path = folder_ / "lock";
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto lock = FileLock::try_lock(path);
    const char byte = lock.has_value() ? 'y' : 'n';
    if (::write(ready[1], &byte, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  EXPECT_TRUE(FileLock::is_held(path));
  EXPECT_FALSE(FileLock::try_lock(path).has_value());
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(FileLock::try_lock(path).has_value());
  for (const int end : ready) ::close(end);
}

TEST_F(Files, AMovedLockIsHeldOnce) {
  const auto path = folder_ / "lock";
  auto first = FileLock::try_lock(path);
  ASSERT_TRUE(first.has_value());
  {
    const FileLock second = std::move(*first);
    first.reset();
    EXPECT_TRUE(FileLock::is_held(path));
  }
  EXPECT_FALSE(FileLock::is_held(path));
}

// Those who only ask must never make a locker believe that the lock is taken.
TEST_F(Files, AskingDoesNotGetInTheWayOfLocking) {
  const auto path = folder_ / "lock";
  write_file_atomically(path, "");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0)
    for (;;) FileLock::is_held(path);
  int failures = 0;
  for (int i = 0; i < 2000; ++i) failures += FileLock::try_lock(path).has_value() ? 0 : 1;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace rondo
