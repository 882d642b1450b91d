// Sequences for training and validation, and the one owner of the position in the data: a training
// sample is a function of (seed, global sample index), so nothing about data is saved or restored.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "data/token_store.h"
#include "data/tokenizer.h"

namespace rondo {

/// A target where nothing is to be predicted.
inline constexpr std::int32_t kNoTarget = -1;

/// Sequences side by side, row-major: row r, position t lies at r * length + t.
struct Batch {
  std::int64_t rows = 0;
  std::int64_t length = 0;              ///< S, positions per row
  std::vector<std::int32_t> inputs;     ///< [rows, length]
  std::vector<std::int32_t> targets;    ///< [rows, length], kNoTarget where nothing is predicted
  std::vector<std::int32_t> documents;  ///< [rows, length]: 0 for the row's first document,
                                        ///< counting up; empty without document mask
  std::vector<float> weights;           ///< [rows, length]: a target's share of the step's loss;
                                        ///< empty: all weigh the same
  std::vector<std::uint64_t> keys;      ///< [rows]: number of each sequence among all of a run's
  std::int64_t tokens = 0;              ///< inputs that are no filling
  std::int64_t predicted = 0;           ///< targets that count
  std::int64_t bytes = 0;  ///< bytes they stand for: bits per byte = summed nats / ln 2 / bytes
};

/// How sequences are cut out of a stream.
struct Cut {
  std::int64_t length = 0;     ///< S, tokens predicted per sequence
  bool document_mask = false;  ///< whether batches tell documents apart
};

/// Training sequences: n = (N − 1) / S windows of S + 1 tokens, S apart (the last token of one is
/// the first of the next, so each is predicted once), in a new pseudo-random order every epoch. At
/// most S − 1 tokens at the end of the stream are left out.
class TrainingSet {
 public:
  /// `seed` is data.seed; `name` says in errors where the data came from. Throws an input error
  /// when the stream is shorter than one sequence.
  TrainingSet(TokenView tokens, std::shared_ptr<const Tokenizer> tokenizer, Cut cut,
              std::uint64_t seed, std::string_view name);

  /// Sequences per epoch, n.
  [[nodiscard]] std::uint64_t windows() const { return windows_; }
  /// Tokens of the stream, N.
  [[nodiscard]] std::uint64_t tokens() const { return tokens_.size(); }
  [[nodiscard]] std::int64_t length() const { return cut_.length; }
  [[nodiscard]] const TokenView& view() const { return tokens_; }

  /// The window of global sample `g` (= step * batch + j, counted over all epochs and ranks): epoch
  /// g / n, place g mod n in that epoch's order. A function of (seed, g) alone.
  [[nodiscard]] std::uint64_t window_of(std::uint64_t g) const;

  /// Global sample `g`: tokens [S + 1] (inputs are the first S, targets the last S) and, unless
  /// empty, the document of each input [S]. Throws an input error for spans of other sizes.
  void sample(std::uint64_t g, std::span<std::int32_t> tokens,
              std::span<std::int32_t> documents = {}) const;

  /// Global samples first … first + rows − 1, with their numbers as keys.
  [[nodiscard]] Batch batch(std::uint64_t first, std::int64_t rows) const;

 private:
  TokenView tokens_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  Cut cut_;
  std::uint64_t seed_;
  std::uint64_t windows_;
};

/// Validation sequences in order. Every token but the stream's first is predicted exactly once; the
/// last window may be shorter than S and is filled up with kNoTarget.
class ValidationSet {
 public:
  /// Throws an input error when there is nothing to predict (fewer than two tokens).
  ValidationSet(TokenView tokens, std::shared_ptr<const Tokenizer> tokenizer, Cut cut,
                std::string_view name);

  /// The same set with only so many windows, evenly spread, that at most `tokens` are predicted
  /// (but at least one window); 0 = all.
  [[nodiscard]] ValidationSet spread(std::int64_t tokens) const;

  [[nodiscard]] std::int64_t windows() const { return chosen_; }
  [[nodiscard]] std::int64_t length() const { return cut_.length; }
  /// Tokens of the whole stream.
  [[nodiscard]] std::uint64_t tokens() const { return tokens_.size(); }
  [[nodiscard]] const TokenView& view() const { return tokens_; }

  /// Windows first … first + rows − 1. Throws an input error past the end.
  [[nodiscard]] Batch batch(std::int64_t first, std::int64_t rows) const;

 private:
  TokenView tokens_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  Cut cut_;
  std::int64_t windows_;  ///< of the whole stream
  std::int64_t chosen_;   ///< of those, in use
};

}  // namespace rondo
