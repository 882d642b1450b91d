// Opening token shards: everything a header claims is checked before it is believed.
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "data/corpus.h"
#include "data/mapped_file.h"
#include "data/shards.h"

namespace rondo {
namespace {

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

ShardHeader read_header(std::string_view content, const std::string& name) {
  ShardHeader header;
  const ShardHeader expected;
  require(content.size() >= sizeof header,
          "{}: is not a token shard: {} bytes, shorter than the header of {}", name, content.size(),
          sizeof header);
  std::memcpy(&header, content.data(), sizeof header);
  require(header.magic == expected.magic,
          "{}: is not a token shard; expected a file written by `rondo data pack`", name);
  require(header.version == kShardVersion,
          "{}: is a token shard of version {}; this program reads version {}", name, header.version,
          kShardVersion);
  const unsigned width = header.token_width;
  require(width == 1 || width == 2 || width == 4, "{}: {} bytes per token; expected 1, 2 or 4",
          name, width);
  constexpr std::uint64_t kMostIds = std::numeric_limits<std::int32_t>::max();
  require(header.vocab >= 1 && header.vocab <= kMostIds &&
              token_width(static_cast<std::int64_t>(header.vocab)) <= width,
          "{}: a vocabulary of {} ids does not go with {} bytes per token (the file is damaged)",
          name, header.vocab, width);
  require(header.separator < header.vocab && header.shard < header.shards,
          "{}: shard {} of {}, separator {} of {} ids: impossible (the file is damaged)", name,
          header.shard, header.shards, header.separator, header.vocab);
  return header;
}

/// Offset of the document table. Throws when the counts do not add up to the size of the file.
std::uint64_t table_offset(const ShardHeader& header, std::uint64_t file_size,
                           const std::string& name) {
  // Dividing first: the counts of a damaged header may be anything, and their products overflow.
  const std::uint64_t body = file_size - sizeof header;
  const bool possible = header.tokens <= body / header.token_width &&
                        header.documents <= body / sizeof(DocumentRecord);
  const std::uint64_t padded =
      possible ? (header.tokens * header.token_width + 7) / 8 * 8 : std::uint64_t{0};
  require(possible && padded + header.documents * sizeof(DocumentRecord) == body,
          "{}: {} bytes do not fit its header ({} tokens of {} bytes, {} documents); it was cut "
          "short or damaged",
          name, file_size, header.tokens, header.token_width, header.documents);
  return sizeof header + padded;
}

void check_documents(std::span<const DocumentRecord> documents, const ShardHeader& header,
                     const std::string& name) {
  std::uint64_t text_bytes = 0;
  bool ordered = documents.empty() == (header.tokens == 0) &&
                 (documents.empty() || documents.front().start == 0);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const std::uint64_t end = i + 1 < documents.size() ? documents[i + 1].start : header.tokens;
    ordered = ordered && documents[i].start < end;
    text_bytes += documents[i].bytes;
  }
  require(ordered && text_bytes == header.text_bytes,
          "{}: its document table contradicts its header (the file is damaged)", name);
}

void require_vocabulary(const ShardHeader& header, const Tokenizer& tokenizer,
                        const std::string& name) {
  const std::string hash = hex(header.vocab_sha256);
  require(hash == tokenizer.vocab_hash(),
          "{}: was packed with another vocabulary ({} ids, hash {:.8}) than tokenizer \"{}\" ({} "
          "ids, hash {:.8}); set data.tokenizer to the one it was packed with",
          name, header.vocab, hash, tokenizer.name(), tokenizer.vocab(), tokenizer.vocab_hash());
}

}  // namespace

Shard open_shard(const fs::path& path) {
  const auto file = std::make_shared<MappedFile>(path);
  const std::string_view content = file->content();
  const std::string name = path.string();
  Shard shard{.header = read_header(content, name), .part = {}};
  const std::uint64_t table = table_offset(shard.header, content.size(), name);
  // The mapping begins at a page and both offsets are multiples of 8, so both arrays are aligned.
  const std::span documents(reinterpret_cast<const DocumentRecord*>(content.data() + table),
                            shard.header.documents);
  check_documents(documents, shard.header, name);
  shard.part = {.name = name,
                .tokens = content.data() + sizeof(ShardHeader),
                .width = shard.header.token_width,
                .count = shard.header.tokens,
                .documents = documents,
                .owner = file};
  return shard;
}

void verify_shard(const fs::path& path) {
  const Shard shard = open_shard(path);
  const MappedFile file(path);
  const std::string digest = sha256(file.content().substr(sizeof(ShardHeader)));
  require(digest == hex(shard.header.content_sha256),
          "{}: its content does not match the hash in its header (the file is damaged)",
          path.string());
}

std::vector<fs::path> shard_files(const fs::path& path) {
  std::error_code error;
  require(fs::exists(path, error), "{}: no such file or folder", path.string());
  if (!fs::is_directory(path, error)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path, error))
    if (entry.path().extension() == ".rondo") files.push_back(entry.path());
  require(!error, "{}: the folder cannot be read ({})", path.string(), error.message());
  require(!files.empty(),
          "{}: the folder holds no token shards (*.rondo); expected what `rondo data pack` writes",
          path.string());
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const ShardHeader header = open_shard(files[i]).header;
    require(
        header.shard == i && header.shards == files.size(),
        "{}: is shard {} of a set of {}, but number {} of {} in its folder; expected exactly one "
        "whole set in a folder",
        files[i].string(), header.shard, header.shards, i, files.size());
  }
  return files;
}

std::shared_ptr<const TokenStore> open_shards(const std::vector<fs::path>& files,
                                              const Tokenizer& tokenizer) {
  std::vector<TokenPart> parts;
  for (const fs::path& file : files) {
    Shard shard = open_shard(file);
    require_vocabulary(shard.header, tokenizer, file.string());
    parts.push_back(std::move(shard.part));
  }
  return std::make_shared<TokenStore>(std::move(parts), tokenizer.vocab());
}

}  // namespace rondo
