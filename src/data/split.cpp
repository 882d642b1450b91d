// Holding out documents, or the end of a stream with few of them.
#include "data/split.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/rng.h"

namespace rondo {
namespace {

/// A constant, and not data.seed: a change of the order of training must not move documents between
/// the parts.
constexpr std::uint64_t kSplitSeed = 20260914;

std::uint64_t document_end(const TokenStore& store, std::uint64_t index) {
  return index + 1 == store.documents() ? store.size() : store.document(index + 1).start;
}

/// Documents that are held out, as flags.
std::vector<bool> choose_documents(const TokenStore& store, double share) {
  const std::uint64_t count = store.documents();
  const Permutation order(RandomStream(kSplitSeed, "validation"), count);
  const double wanted = share * static_cast<double>(store.text_bytes());
  std::vector<bool> held_out(count, false);
  double bytes = 0;
  std::uint64_t chosen = 0;
  for (std::uint64_t i = 0; i < count && bytes < wanted && chosen + 1 < count; ++i) {
    const std::uint64_t index = order(i);
    const auto more = static_cast<double>(store.document(index).bytes);
    if (bytes + more > 2 * wanted) continue;
    held_out[index] = true;
    bytes += more;
    ++chosen;
  }
  if (chosen == 0) held_out[order(0)] = true;
  return held_out;
}

/// Leaves out the separator at the very end of a part.
void drop_last_separator(std::vector<TokenRange>& ranges) {
  if (--ranges.back().end == ranges.back().begin) ranges.pop_back();
}

Split split_by_document(const TokenStore& store, double share) {
  Split split;
  const std::vector<bool> held_out = choose_documents(store, share);
  for (std::uint64_t i = 0; i < store.documents(); ++i) {
    auto& ranges = held_out[i] ? split.validation : split.training;
    const TokenRange range{store.document(i).start, document_end(store, i)};
    if (!ranges.empty() && ranges.back().end == range.begin) {
      ranges.back().end = range.end;
    } else {
      ranges.push_back(range);
    }
    ++(held_out[i] ? split.validation_documents : split.training_documents);
  }
  drop_last_separator(split.training);
  drop_last_separator(split.validation);
  return split;
}

/// Reads single tokens from the end of a stream to its beginning, a chunk at a time.
class BackwardReader {
 public:
  explicit BackwardReader(const TokenStore& store) : store_(store) {}

  std::int32_t at(std::uint64_t position) {
    if (position < first_ || position >= first_ + chunk_.size()) {
      first_ = position + 1 - std::min<std::uint64_t>(kChunk, position + 1);
      chunk_.resize(position + 1 - first_);
      store_.read(first_, chunk_);
    }
    return chunk_[position - first_];
  }

 private:
  static constexpr std::uint64_t kChunk = 4096;
  const TokenStore& store_;
  std::uint64_t first_ = 0;
  std::vector<std::int32_t> chunk_;
};

bool ends_line(const Tokenizer& tokenizer, std::int32_t id) {
  return id == tokenizer.separator() || tokenizer.decode(std::array{id}).ends_with('\n');
}

/// Whether a token begins in the middle of a UTF-8 character.
bool continues_character(const Tokenizer& tokenizer, std::int32_t id) {
  const std::string text = tokenizer.decode(std::array{id});
  return !text.empty() && (static_cast<unsigned char>(text.front()) & 0xC0) == 0x80;
}

/// First token of the held-out end of a stream whose text ends before `end`.
std::uint64_t cut_position(const TokenStore& store, const Tokenizer& tokenizer, double share,
                           std::uint64_t end) {
  const double wanted = share * static_cast<double>(store.text_bytes());
  BackwardReader tokens(store);
  double bytes = 0;
  std::uint64_t at_share = 0;  // the last place where the share is reached; 0 = not met yet
  for (std::uint64_t position = end - 1; position > 0; --position) {
    const std::int32_t id = tokens.at(position);
    bytes += static_cast<double>(tokenizer.stream_bytes(id));
    if (bytes < wanted || position + 2 > end) continue;
    if (at_share != 0 && bytes > 2 * wanted) break;
    if (at_share == 0 && !continues_character(tokenizer, id)) at_share = position;
    if (ends_line(tokenizer, tokens.at(position - 1))) return position;
  }
  return std::max<std::uint64_t>(at_share, 1);
}

Split split_at_line_end(const TokenStore& store, const Tokenizer& tokenizer, double share) {
  const std::uint64_t end = store.size() - 1;
  const std::uint64_t cut = cut_position(store, tokenizer, share, end);
  const bool after_document = BackwardReader(store).at(cut - 1) == tokenizer.separator();
  Split split{.training = {{0, cut}}, .validation = {{cut, end}}};
  if (after_document) drop_last_separator(split.training);
  for (std::uint64_t i = 0; i < store.documents(); ++i) {
    if (store.document(i).start < cut) ++split.training_documents;
    if (document_end(store, i) > cut) ++split.validation_documents;
  }
  return split;
}

}  // namespace

Split split_stream(const TokenStore& store, const Tokenizer& tokenizer, double share,
                   std::string_view name) {
  require(
      share > 0 && share < 1,
      "data.validation = {}: a share must be above 0 and below 1; expected 0.05 or so, or a path "
      "to validation data",
      share);
  constexpr std::uint64_t kFewest = 4;  // two tokens in each part, so that each can predict one
  require(store.size() > kFewest,
          "{}: {} tokens are too few to hold some out for validation; give more data", name,
          store.size());
  return store.documents() < kFewDocuments ? split_at_line_end(store, tokenizer, share)
                                           : split_by_document(store, share);
}

std::optional<double> validation_share(const std::string& validation) {
  double share = 0;
  const char* end = validation.data() + validation.size();
  const auto [stop, error] = std::from_chars(validation.data(), end, share);
  if (error != std::errc() || stop != end) return std::nullopt;
  return share;
}

std::vector<TokenRange> whole_stream(const TokenStore& store) {
  std::vector<TokenRange> ranges{{0, store.size()}};
  drop_last_separator(ranges);
  return ranges;
}

}  // namespace rondo
