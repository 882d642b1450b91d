// A stream of tokens in memory or in mapped files, and views that leave parts of it out. Positions
// and counts are 64-bit throughout.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rondo {

/// A document inside a part: where it starts, and how many bytes of text it holds. Its last token
/// is the separator, which is not among the bytes.
struct DocumentRecord {
  std::uint64_t start = 0;
  std::uint64_t bytes = 0;
};

/// Tokens that lie together in memory or in one mapped file. Documents never cross parts.
struct TokenPart {
  std::string name;                           ///< file or folder it came from, for errors
  const void* tokens = nullptr;               ///< little-endian, aligned to `width`
  unsigned width = 4;                         ///< bytes per token: 1, 2 or 4
  std::uint64_t count = 0;                    ///< tokens
  std::span<const DocumentRecord> documents;  ///< in order, none empty; starts within the part
  std::shared_ptr<const void> owner;          ///< keeps tokens and documents alive
};

/// Parts one after the other as one stream: every document followed by the separator.
class TokenStore {
 public:
  /// `vocab` bounds the ids that reading accepts.
  TokenStore(std::vector<TokenPart> parts, std::int64_t vocab);

  /// Tokens, separators included.
  [[nodiscard]] std::uint64_t size() const { return first_token_.back(); }
  [[nodiscard]] std::uint64_t documents() const { return first_document_.back(); }
  /// Start in the stream and bytes of text of a document. Throws past the end.
  [[nodiscard]] DocumentRecord document(std::uint64_t index) const;
  /// Bytes of all documents' text.
  [[nodiscard]] std::uint64_t text_bytes() const { return text_bytes_; }
  [[nodiscard]] std::int64_t vocab() const { return vocab_; }

  /// Copies tokens from `position` on. Throws an input error past the end, and for an id outside
  /// the vocabulary (a damaged file).
  void read(std::uint64_t position, std::span<std::int32_t> tokens) const;

 private:
  std::vector<TokenPart> parts_;
  std::vector<std::uint64_t> first_token_;     ///< per part, and the total
  std::vector<std::uint64_t> first_document_;  ///< likewise
  std::uint64_t text_bytes_ = 0;
  std::int64_t vocab_ = 0;
};

/// Half-open range of positions of a store.
struct TokenRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Some ranges of a store, read as one stream: the training or the validation part.
class TokenView {
 public:
  /// Ranges in order, none empty; neighbours that touch are joined.
  TokenView(std::shared_ptr<const TokenStore> store, const std::vector<TokenRange>& ranges);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const TokenStore& store() const { return *store_; }
  [[nodiscard]] std::span<const TokenRange> ranges() const { return ranges_; }

  /// Copies tokens from `position` of the view on. Throws an input error past the end.
  void read(std::uint64_t position, std::span<std::int32_t> tokens) const;

 private:
  std::shared_ptr<const TokenStore> store_;
  std::vector<TokenRange> ranges_;
  std::vector<std::uint64_t> first_;  ///< position in the view where a range begins
  std::uint64_t size_ = 0;
};

}  // namespace rondo
