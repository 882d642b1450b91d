// Streams of tokens over parts, and views over streams.
#include "data/token_store.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace rondo {
namespace {

static_assert(std::endian::native == std::endian::little, "token files are little-endian");

/// Index of the interval that holds `position`, where interval i begins at starts[i] and the last
/// entry of `starts` is the end of all.
std::size_t interval_of(const std::vector<std::uint64_t>& starts, std::uint64_t position) {
  const auto after = std::upper_bound(starts.begin(), starts.end(), position);
  return static_cast<std::size_t>(after - starts.begin()) - 1;
}

template <typename Word>
std::uint32_t widen(const void* tokens, std::uint64_t first, std::span<std::int32_t> out) {
  const Word* from = static_cast<const Word*>(tokens) + first;
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    largest = std::max<std::uint32_t>(largest, from[i]);
    out[i] = static_cast<std::int32_t>(from[i]);
  }
  return largest;
}

/// Copies tokens of a part and returns the largest id.
std::uint32_t copy_tokens(const TokenPart& part, std::uint64_t first, std::span<std::int32_t> out) {
  switch (part.width) {
    case 1:
      return widen<std::uint8_t>(part.tokens, first, out);
    case 2:
      return widen<std::uint16_t>(part.tokens, first, out);
    case 4:
      return widen<std::uint32_t>(part.tokens, first, out);
    default:
      fail("{}: {} bytes per token; expected 1, 2 or 4", part.name, part.width);
  }
}

void require_inside(std::uint64_t position, std::size_t count, std::uint64_t size) {
  require(position <= size && count <= size - position,
          "tokens {} to {} were asked for, past the end of data with {} tokens", position,
          position + count, size);
}

}  // namespace

TokenStore::TokenStore(std::vector<TokenPart> parts, std::int64_t vocab)
    : parts_(std::move(parts)), first_token_{0}, first_document_{0}, vocab_(vocab) {
  std::erase_if(parts_, [](const TokenPart& part) { return part.count == 0; });
  for (const TokenPart& part : parts_) {
    first_token_.push_back(first_token_.back() + part.count);
    first_document_.push_back(first_document_.back() + part.documents.size());
    for (const DocumentRecord& document : part.documents) text_bytes_ += document.bytes;
  }
}

DocumentRecord TokenStore::document(std::uint64_t index) const {
  require(index < documents(), "document {} was asked for, past the end of data with {} documents",
          index, documents());
  const std::size_t part = interval_of(first_document_, index);
  DocumentRecord record = parts_[part].documents[index - first_document_[part]];
  record.start += first_token_[part];
  return record;
}

void TokenStore::read(std::uint64_t position, std::span<std::int32_t> tokens) const {
  require_inside(position, tokens.size(), size());
  while (!tokens.empty()) {
    const std::size_t at = interval_of(first_token_, position);
    const std::uint64_t here =
        std::min<std::uint64_t>(tokens.size(), first_token_[at + 1] - position);
    const TokenPart& part = parts_[at];
    const std::uint32_t largest =
        copy_tokens(part, position - first_token_[at], tokens.first(here));
    require(largest < static_cast<std::uint64_t>(vocab_),
            "{}: holds token id {}; expected ids below the vocabulary of {} (the file is damaged)",
            part.name, largest, vocab_);
    position += here;
    tokens = tokens.subspan(here);
  }
}

TokenView::TokenView(std::shared_ptr<const TokenStore> store, const std::vector<TokenRange>& ranges)
    : store_(std::move(store)) {
  for (const TokenRange& range : ranges) {
    require(range.begin < range.end && range.end <= store_->size() &&
                (ranges_.empty() || ranges_.back().end <= range.begin),
            "tokens {} to {} are not part of data with {} tokens", range.begin, range.end,
            store_->size());
    size_ += range.end - range.begin;
    if (!ranges_.empty() && ranges_.back().end == range.begin) {
      ranges_.back().end = range.end;
    } else {
      ranges_.push_back(range);
    }
  }
  std::uint64_t position = 0;
  for (const TokenRange& range : ranges_) {
    first_.push_back(position);
    position += range.end - range.begin;
  }
  first_.push_back(position);
}

void TokenView::read(std::uint64_t position, std::span<std::int32_t> tokens) const {
  require_inside(position, tokens.size(), size_);
  while (!tokens.empty()) {
    const std::size_t at = interval_of(first_, position);
    const std::uint64_t here = std::min<std::uint64_t>(tokens.size(), first_[at + 1] - position);
    store_->read(ranges_[at].begin + (position - first_[at]), tokens.first(here));
    position += here;
    tokens = tokens.subspan(here);
  }
}

}  // namespace rondo
