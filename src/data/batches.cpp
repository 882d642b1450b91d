// Cutting training and validation sequences out of streams of tokens.
#include "data/batches.h"

#include <algorithm>

#include "base/error.h"
#include "base/rng.h"

namespace rondo {
namespace {

/// Numbers the documents of a sequence from 0. A separator belongs to the document that it ends.
void number_documents(std::span<const std::int32_t> inputs, std::int32_t separator,
                      std::span<std::int32_t> documents) {
  std::int32_t document = 0;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    documents[i] = document;
    if (inputs[i] == separator) ++document;
  }
}

Batch empty_batch(std::int64_t rows, const Cut& cut) {
  require(rows >= 0, "a batch of {} rows was asked for; expected 0 or more", rows);
  const auto size = static_cast<std::size_t>(rows * cut.length);
  Batch batch;
  batch.rows = rows;
  batch.length = cut.length;
  batch.inputs.assign(size, 0);
  batch.targets.assign(size, kNoTarget);
  if (cut.document_mask) batch.documents.assign(size, 0);
  return batch;
}

/// Puts a sequence of tokens (at most S + 1) into a row; what it does not reach stays as it is.
void fill_row(Batch& batch, std::int64_t row, std::span<const std::int32_t> tokens,
              const Tokenizer& tokenizer) {
  const auto begin = static_cast<std::ptrdiff_t>(row * batch.length);
  const auto inputs = tokens.first(tokens.size() - 1);
  const auto targets = tokens.last(tokens.size() - 1);
  std::copy(inputs.begin(), inputs.end(), batch.inputs.begin() + begin);
  std::copy(targets.begin(), targets.end(), batch.targets.begin() + begin);
  if (!batch.documents.empty()) {
    number_documents(
        inputs, tokenizer.separator(),
        std::span(batch.documents).subspan(static_cast<std::size_t>(begin), inputs.size()));
  }
  batch.tokens += static_cast<std::int64_t>(inputs.size());
  batch.predicted += static_cast<std::int64_t>(targets.size());
  for (const std::int32_t id : targets) batch.bytes += tokenizer.stream_bytes(id);
}

/// Middle of the i-th of `parts` equal stretches of 0 … size − 1: floor((2i + 1) size / (2 parts)),
/// with the whole multiple taken out first so that nothing overflows. i itself when parts = size.
std::int64_t middle_of(std::int64_t i, std::int64_t parts, std::int64_t size) {
  const std::int64_t whole = size / parts, rest = size % parts;
  return i * whole + (whole * parts + (2 * i + 1) * rest) / (2 * parts);
}

}  // namespace

TrainingSet::TrainingSet(TokenView tokens, std::shared_ptr<const Tokenizer> tokenizer, Cut cut,
                         std::uint64_t seed, std::string_view name)
    : tokens_(std::move(tokens)), tokenizer_(std::move(tokenizer)), cut_(cut), seed_(seed) {
  require(cut_.length >= 1, "data.sequence_length = {}: expected 1 or more", cut_.length);
  const auto length = static_cast<std::uint64_t>(cut_.length);
  require(
      tokens_.size() > length,
      "{}: the training part has {} tokens, fewer than one sequence of {} (data.sequence_length "
      "+ 1); give more data or a smaller data.sequence_length",
      name, tokens_.size(), length + 1);
  windows_ = (tokens_.size() - 1) / length;
}

std::uint64_t TrainingSet::window_of(std::uint64_t g) const {
  const RandomStream stream(seed_, "shuffle", g / windows_);
  return Permutation(stream, windows_)(g % windows_);
}

void TrainingSet::sample(std::uint64_t g, std::span<std::int32_t> tokens,
                         std::span<std::int32_t> documents) const {
  const auto length = static_cast<std::size_t>(cut_.length);
  require(tokens.size() == length + 1 && (documents.empty() || documents.size() == length),
          "a training sample of {} tokens and {} documents was asked for; expected {} and {} or 0",
          tokens.size(), documents.size(), length + 1, length);
  tokens_.read(window_of(g) * length, tokens);
  number_documents(tokens, tokenizer_->separator(), documents);
}

Batch TrainingSet::batch(std::uint64_t first, std::int64_t rows) const {
  Batch batch = empty_batch(rows, cut_);
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(cut_.length) + 1);
  for (std::int64_t row = 0; row < rows; ++row) {
    batch.keys.push_back(first + static_cast<std::uint64_t>(row));
    sample(batch.keys.back(), tokens);
    fill_row(batch, row, tokens, *tokenizer_);
  }
  return batch;
}

ValidationSet::ValidationSet(TokenView tokens, std::shared_ptr<const Tokenizer> tokenizer, Cut cut,
                             std::string_view name)
    : tokens_(std::move(tokens)), tokenizer_(std::move(tokenizer)), cut_(cut) {
  require(cut_.length >= 1, "data.sequence_length = {}: expected 1 or more", cut_.length);
  require(tokens_.size() >= 2,
          "{}: the validation part has {} tokens; at least 2 are needed to predict one", name,
          tokens_.size());
  const auto length = static_cast<std::uint64_t>(cut_.length);
  windows_ = static_cast<std::int64_t>((tokens_.size() - 2) / length + 1);
  chosen_ = windows_;
}

ValidationSet ValidationSet::spread(std::int64_t tokens) const {
  ValidationSet part = *this;
  if (tokens > 0)
    part.chosen_ = std::min(windows_, std::max<std::int64_t>(1, tokens / cut_.length));
  return part;
}

Batch ValidationSet::batch(std::int64_t first, std::int64_t rows) const {
  Batch batch = empty_batch(rows, cut_);
  require(first >= 0 && rows <= chosen_ - first,
          "validation sequences {} to {} were asked for, past the end of {}", first, first + rows,
          chosen_);
  std::vector<std::int32_t> tokens;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto window = static_cast<std::uint64_t>(middle_of(first + row, chosen_, windows_));
    const std::uint64_t begin = window * static_cast<std::uint64_t>(cut_.length);
    const std::uint64_t left = tokens_.size() - begin;
    tokens.resize(std::min<std::uint64_t>(left, static_cast<std::uint64_t>(cut_.length) + 1));
    tokens_.read(begin, tokens);
    fill_row(batch, row, tokens, *tokenizer_);
  }
  return batch;
}

}  // namespace rondo
