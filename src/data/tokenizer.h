// Text to token ids and back. A new tokenizer is one file with a class and one line in the table of
// tokenizer.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {

/// Turns UTF-8 text into ids 0 … vocab() − 1. Neither direction ever adds or drops a special token:
/// what begins or ends a text is the caller's business and visible there.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// The name by which a recipe opens it.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Number of ids.
  [[nodiscard]] virtual std::int64_t vocab() const = 0;
  /// SHA-256 (64 hex digits) of a canonical description: equal hashes mean equal ids for all text.
  [[nodiscard]] virtual std::string vocab_hash() const = 0;
  /// The id that ends a document, where the vocabulary has one. `encode` never returns it.
  [[nodiscard]] virtual std::optional<std::int32_t> end_of_text() const = 0;

  /// Appends the ids of `text` to `ids`.
  virtual void encode(std::string_view text, std::vector<std::int32_t>& ids) const = 0;
  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view text) const;

  /// The bytes that the ids stand for; special ids give none. Any sequence of ids is allowed, so
  /// the result need not be valid UTF-8. Throws an input error for an id outside the vocabulary.
  [[nodiscard]] virtual std::string decode(std::span<const std::int32_t> ids) const = 0;

  /// Bytes of text that an id of the vocabulary stands for, special ids none.
  [[nodiscard]] virtual std::int64_t text_bytes(std::int32_t id) const = 0;

  /// Length of a prefix of `text` (not empty) that gives the same ids when it is encoded apart from
  /// the rest; lets long documents be encoded in bounded memory. All of it unless overridden.
  [[nodiscard]] virtual std::size_t separable_prefix(std::string_view text) const {
    return text.size();
  }

  /// The id that stands between documents in a token stream: end_of_text(), else 0, which is byte 0
  /// for the `bytes` tokenizer.
  [[nodiscard]] std::int32_t separator() const { return end_of_text().value_or(0); }

  /// Bytes that an id counts for in bits per byte: those of its text, and one for the separator
  /// whatever the vocabulary, so that the figure compares between tokenizers.
  [[nodiscard]] std::int64_t stream_bytes(std::int32_t id) const {
    return id == separator() ? 1 : text_bytes(id);
  }
};

/// Opens a tokenizer by its recipe name: `bytes` (ids are the 256 byte values, no specials).
/// Throws an input error that lists what is available.
std::shared_ptr<const Tokenizer> open_tokenizer(const std::string& name);

/// Takes the ids of a document piece by piece.
using TokenSink = std::function<void(std::span<const std::int32_t>)>;

/// Encodes a document in pieces of bounded size and ends it with the separator. Throws an input
/// error that names `where` when the text itself holds the separator, which would look like the end
/// of the document.
void encode_document(const Tokenizer& tokenizer, std::string_view text, std::string_view where,
                     const TokenSink& sink);

}  // namespace rondo
