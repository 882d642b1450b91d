// Text files tokenised into memory, at the smallest width that holds the vocabulary.
#include "data/corpus.h"

#include <cstring>
#include <limits>

#include "base/error.h"
#include "data/mapped_file.h"
#include "data/text.h"

namespace rondo {
namespace {

/// What an in-memory part owns.
struct Buffer {
  std::vector<std::byte> tokens;
  std::vector<DocumentRecord> documents;
};

template <typename Word>
void append_as(std::vector<std::byte>& out, std::span<const std::int32_t> ids) {
  const std::size_t before = out.size();
  out.resize(before + ids.size() * sizeof(Word));
  std::byte* to = out.data() + before;
  for (const std::int32_t id : ids) {
    const Word word = static_cast<Word>(id);
    std::memcpy(to, &word, sizeof word);
    to += sizeof word;
  }
}

}  // namespace

unsigned token_width(std::int64_t vocab) {
  require(vocab >= 1 && vocab <= std::numeric_limits<std::int32_t>::max(),
          "a vocabulary of {} ids cannot be stored; expected 1 to 2147483647", vocab);
  if (vocab <= 256) return 1;
  return vocab <= 65536 ? 2 : 4;
}

void append_tokens(std::vector<std::byte>& out, unsigned width, std::span<const std::int32_t> ids) {
  if (width == 1) return append_as<std::uint8_t>(out, ids);
  if (width == 2) return append_as<std::uint16_t>(out, ids);
  append_as<std::uint32_t>(out, ids);
}

std::shared_ptr<const TokenStore> load_text(const std::vector<fs::path>& files,
                                            const Tokenizer& tokenizer, const std::string& name) {
  const unsigned width = token_width(tokenizer.vocab());
  const auto buffer = std::make_shared<Buffer>();
  // A byte of text gives at most one token with most vocabularies, and pages never touched are
  // free.
  std::error_code ignored;
  std::uintmax_t bytes = 0;
  for (const fs::path& file : files) bytes += fs::file_size(file, ignored);
  if (!ignored) buffer->tokens.reserve(bytes);
  for (const fs::path& file : files) {
    read_documents(file, [&](std::string_view text, std::string_view where) {
      buffer->documents.push_back({.start = buffer->tokens.size() / width, .bytes = text.size()});
      encode_document(tokenizer, text, where, [&](std::span<const std::int32_t> ids) {
        append_tokens(buffer->tokens, width, ids);
      });
    });
  }
  require(!buffer->documents.empty(), "{}: there is no text in it, only white space or nothing",
          name);
  TokenPart part{.name = name,
                 .tokens = buffer->tokens.data(),
                 .width = width,
                 .count = buffer->tokens.size() / width,
                 .documents = buffer->documents,
                 .owner = buffer};
  return std::make_shared<TokenStore>(std::vector{std::move(part)}, tokenizer.vocab());
}

std::string files_sha256(const std::vector<fs::path>& files) {
  std::string digests;
  for (const fs::path& file : files) {
    std::string digest = sha256(MappedFile(file).content());
    if (files.size() == 1) return digest;
    digests += digest + "\n";
  }
  return sha256(digests);
}

}  // namespace rondo
