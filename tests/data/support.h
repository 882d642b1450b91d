// What the tests of the data layer share: a folder that goes away, files in it, errors as text.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "data/token_store.h"
#include "data/tokenizer.h"

namespace rondo::testing {

/// A new empty folder, removed with the object.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (fs::temp_directory_path() / "rondo-data-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  [[nodiscard]] const fs::path& path() const { return path_; }
  fs::path write(const fs::path& name, std::string_view content) const {
    fs::path file = path_ / name;
    fs::create_directories(file.parent_path());
    fs::remove(file);  // ext4 flushes a file that was cut to nothing and written again: 5 ms each
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }

 private:
  fs::path path_;
};

/// The message of the Error that `action` throws.
template <typename Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

inline ::testing::AssertionResult contains(std::string_view text, std::string_view part) {
  if (text.find(part) != std::string_view::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << text << "\" lacks \"" << part << "\"";
}

inline std::vector<std::int32_t> all_tokens(const TokenStore& store) {
  std::vector<std::int32_t> tokens(store.size());
  store.read(0, tokens);
  return tokens;
}

/// `count` documents of a few lines each, all different, with separator lines between them.
inline std::string numbered_documents(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    if (i > 0) text += "<|endoftext|>\n";
    for (int line = 0; line <= i % 4; ++line)
      text += fmt::format("Document {} has a line {} of its own.\n", i, line);
  }
  return text;
}

/// A vocabulary of one's own size whose ids are byte values plus a special one at the end: stands
/// in for larger tokenizers.
class WideTokenizer final : public Tokenizer {
 public:
  explicit WideTokenizer(std::int64_t vocab) : vocab_(vocab) {}
  [[nodiscard]] std::string name() const override { return fmt::format("wide-{}", vocab_); }
  [[nodiscard]] std::int64_t vocab() const override { return vocab_; }
  [[nodiscard]] std::string vocab_hash() const override { return sha256(name()); }
  [[nodiscard]] std::optional<std::int32_t> end_of_text() const override {
    return static_cast<std::int32_t>(vocab_ - 1);
  }
  using Tokenizer::encode;
  void encode(std::string_view text, std::vector<std::int32_t>& ids) const override {
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  }
  [[nodiscard]] std::string decode(std::span<const std::int32_t> ids) const override {
    std::string text;
    for (const std::int32_t id : ids)
      if (id < 256) text += static_cast<char>(id);
    return text;
  }
  [[nodiscard]] std::int64_t text_bytes(std::int32_t id) const override { return id < 256 ? 1 : 0; }

 private:
  std::int64_t vocab_;
};

}  // namespace rondo::testing
