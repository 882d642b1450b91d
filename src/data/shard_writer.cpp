// Writing token shards: under temporary names until the whole set is complete and on disk.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "data/corpus.h"
#include "data/mapped_file.h"
#include "data/shards.h"

namespace rondo {
namespace {

/// The 32 bytes that 64 hex digits stand for.
std::array<std::uint8_t, 32> unhex(const std::string& digits) {
  std::array<std::uint8_t, 32> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(std::stoul(digits.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

void require_no_shards(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder))
    require(entry.path().extension() != ".rondo",
            "{}: the folder already holds token shards ({}); remove them or choose another folder",
            folder.string(), entry.path().filename().string());
}

void overwrite_header(const fs::path& path, const ShardHeader& header) {
  std::FILE* file = std::fopen(path.c_str(), "r+b");
  const bool written = file != nullptr && std::fwrite(&header, sizeof header, 1, file) == 1;
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (!written || !closed)
    fail_work("{}: cannot be written ({})", path.string(), std::strerror(errno));
}

}  // namespace

ShardWriter::ShardWriter(const fs::path& folder, std::string name, const Tokenizer& tokenizer,
                         unsigned width, std::uint64_t shard_tokens)
    : folder_(folder),
      name_(std::move(name)),
      width_(width == 0 ? token_width(tokenizer.vocab()) : width),
      vocab_(tokenizer.vocab()),
      shard_tokens_(shard_tokens) {
  require(width_ == 1 || width_ == 2 || width_ == 4, "{} bytes per token; expected 1, 2 or 4",
          width_);
  require(token_width(vocab_) <= width_,
          "{} byte(s) per token cannot hold the {} ids of tokenizer \"{}\"; expected {} or more",
          width_, vocab_, tokenizer.name(), token_width(vocab_));
  require(shard_tokens_ >= 1, "shards of 0 tokens; expected 1 or more");
  require(!name_.empty() && name_.find('/') == std::string::npos && !name_.starts_with('.'),
          "\"{}\" cannot name shards; expected a plain file name", name_);
  create_folder(folder_);
  require_no_shards(folder_);
  header_.token_width = width_;
  header_.vocab = static_cast<std::uint64_t>(vocab_);
  header_.separator = static_cast<std::uint32_t>(tokenizer.separator());
  header_.vocab_sha256 = unhex(tokenizer.vocab_hash());
}

ShardWriter::~ShardWriter() {
  file_.reset();
  std::error_code ignored;
  for (const fs::path& path : temporary_) fs::remove(path, ignored);
}

fs::path ShardWriter::final_path(std::size_t index) const {
  return folder_ / fmt::format("{}-{:05}.rondo", name_, index);
}

void ShardWriter::open_next() {
  const fs::path path =
      folder_ / fmt::format(".{}-{:05}.{}.tmp", name_, headers_.size(), ::getpid());
  file_.reset(std::fopen(path.c_str(), "wb"));
  if (file_ == nullptr)
    fail_work("{}: cannot be written ({})", path.string(), std::strerror(errno));
  temporary_.push_back(path);
  header_.shard = static_cast<std::uint32_t>(headers_.size());
  header_.tokens = header_.text_bytes = 0;
  document_start_ = 0;
  records_.clear();
  write(&header_, sizeof header_);  // a place holder until finish()
}

void ShardWriter::write(const void* data, std::size_t size) {
  if (size > 0 && std::fwrite(data, size, 1, file_.get()) != 1)
    fail_work("{}: cannot be written ({})", final_path(headers_.size()).string(),
              std::strerror(errno));
}

void ShardWriter::add(std::span<const std::int32_t> ids) {
  const auto outside =
      std::find_if(ids.begin(), ids.end(), [&](std::int32_t id) { return id < 0 || id >= vocab_; });
  if (outside != ids.end())
    fail("{}: token id {} is outside the vocabulary of {} ids; nothing was written",
         final_path(headers_.size()).string(), *outside, vocab_);
  if (file_ == nullptr) open_next();
  packed_.clear();
  append_tokens(packed_, width_, ids);
  write(packed_.data(), packed_.size());
  header_.tokens += ids.size();
  tokens_ += ids.size();
}

void ShardWriter::end_document(std::uint64_t bytes) {
  require(header_.tokens > document_start_, "a document without tokens cannot be stored");
  records_.push_back({.start = document_start_, .bytes = bytes});
  document_start_ = header_.tokens;
  header_.text_bytes += bytes;
  ++documents_;
  if (header_.tokens >= shard_tokens_) close_current();
}

void ShardWriter::close_current() {
  const fs::path& path = temporary_.back();
  constexpr std::array<char, 8> kZeros{};
  write(kZeros.data(), (8 - header_.tokens * width_ % 8) % 8);
  write(records_.data(), records_.size() * sizeof(DocumentRecord));
  if (std::fclose(file_.release()) != 0)
    fail_work("{}: cannot be written ({})", path.string(), std::strerror(errno));
  header_.documents = records_.size();
  header_.content_sha256 = unhex(sha256(MappedFile(path).content().substr(sizeof header_)));
  headers_.push_back(header_);
  header_.tokens = 0;
}

std::vector<fs::path> ShardWriter::finish() {
  require(documents_ > 0, "{}: there is no document to write", folder_.string());
  require(file_ == nullptr || header_.tokens == document_start_,
          "{}: the last document was not ended", folder_.string());
  if (file_ != nullptr) close_current();
  for (std::size_t i = 0; i < headers_.size(); ++i) {
    headers_[i].shards = static_cast<std::uint32_t>(headers_.size());
    overwrite_header(temporary_[i], headers_[i]);
    sync_path(temporary_[i]);
  }
  std::vector<fs::path> paths;
  for (std::size_t i = 0; i < headers_.size(); ++i) {
    paths.push_back(final_path(i));
    std::error_code error;
    fs::rename(temporary_[i], paths.back(), error);
    if (error) fail_work("{}: cannot be written ({})", paths.back().string(), error.message());
  }
  temporary_.clear();
  sync_path(folder_);
  return paths;
}

}  // namespace rondo
