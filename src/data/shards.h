// Token shards: files that are mapped into memory and trained from directly. The layout is
// described in docs/data.md.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "data/token_store.h"
#include "data/tokenizer.h"

namespace rondo {

inline constexpr std::uint32_t kShardVersion = 1;

/// The first 128 bytes of a shard, little-endian. Tokens follow, then zeros up to a multiple of 8,
/// then the document table (DocumentRecord each), then nothing.
struct ShardHeader {
  std::array<char, 8> magic = {'R', 'O', 'N', 'D', 'O', 'T', 'O', 'K'};
  std::uint32_t version = kShardVersion;
  std::uint32_t token_width = 0;  ///< bytes: 1, 2 or 4
  std::uint64_t tokens = 0;       ///< separators included
  std::uint64_t documents = 0;
  std::uint64_t text_bytes = 0;  ///< of all documents, separators not counted
  std::uint64_t vocab = 0;       ///< ids are below it
  std::uint32_t separator = 0;   ///< the id that ends every document
  std::uint32_t shard = 0;       ///< which of its set, from 0
  std::uint32_t shards = 0;      ///< size of the set
  std::uint32_t reserved = 0;
  std::array<std::uint8_t, 32> vocab_sha256{};    ///< Tokenizer::vocab_hash
  std::array<std::uint8_t, 32> content_sha256{};  ///< of all bytes after the header
};
static_assert(sizeof(ShardHeader) == 128);

/// An open shard.
struct Shard {
  ShardHeader header;
  TokenPart part;
};

/// Maps a shard and checks its header, its size and its document table, but not the tokens (reading
/// checks those it reads). Throws an input error that names the file and what was expected.
Shard open_shard(const fs::path& path);

/// Reads a whole shard and compares it with the hash in its header. Throws an input error.
void verify_shard(const fs::path& path);

/// The shards that `path` stands for: one file, or the whole set in a folder (*.rondo, in order).
/// Throws an input error when one of the set is missing or belongs to another.
std::vector<fs::path> shard_files(const fs::path& path);

/// Opens shards as one stream. Throws an input error when they were made with another tokenizer.
std::shared_ptr<const TokenStore> open_shards(const std::vector<fs::path>& files,
                                              const Tokenizer& tokenizer);

/// Writes a set of shards into a folder. They get their names, all at once, in finish(); without it
/// nothing is left behind.
class ShardWriter {
 public:
  /// `width` is 1, 2 or 4 bytes, 0 = the smallest that holds the vocabulary. A shard is closed at
  /// the end of the document with which it reaches `shard_tokens`. Throws an input error when the
  /// width cannot hold the vocabulary, or the folder already holds shards.
  ShardWriter(const fs::path& folder, std::string name, const Tokenizer& tokenizer, unsigned width,
              std::uint64_t shard_tokens);
  ShardWriter(const ShardWriter&) = delete;
  ShardWriter& operator=(const ShardWriter&) = delete;
  ~ShardWriter();

  /// Adds tokens to the current document. Throws an input error for an id outside the vocabulary,
  /// an error of the work when the disk is full.
  void add(std::span<const std::int32_t> ids);
  /// Ends the document whose last added token was the separator; `bytes` is the length of its text.
  void end_document(std::uint64_t bytes);
  /// Closes the last shard and names all of them. Throws an input error when there is no document.
  std::vector<fs::path> finish();

  /// Tokens and documents of all shards so far.
  [[nodiscard]] std::uint64_t tokens() const { return tokens_; }
  [[nodiscard]] std::uint64_t documents() const { return documents_; }

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void open_next();
  void close_current();
  void write(const void* data, std::size_t size);
  [[nodiscard]] fs::path final_path(std::size_t index) const;

  fs::path folder_;
  std::string name_;
  unsigned width_;
  std::int64_t vocab_;
  std::uint64_t shard_tokens_;
  ShardHeader header_;  ///< of the current shard
  std::vector<DocumentRecord> records_;
  std::uint64_t document_start_ = 0;
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::vector<fs::path> temporary_;   ///< files of all shards so far
  std::vector<ShardHeader> headers_;  ///< of the closed ones
  std::vector<std::byte> packed_;
  std::uint64_t tokens_ = 0;
  std::uint64_t documents_ = 0;
};

}  // namespace rondo
