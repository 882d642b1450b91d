// Which part of a stream is held out for validation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/token_store.h"
#include "data/tokenizer.h"

namespace rondo {

/// Streams with fewer documents are cut at a line end instead of split by document.
inline constexpr std::uint64_t kFewDocuments = 20;

/// A stream in two parts that share no token.
struct Split {
  std::vector<TokenRange> training;
  std::vector<TokenRange> validation;
  std::uint64_t training_documents = 0;
  std::uint64_t validation_documents = 0;
};

/// Holds out `share` (above 0, below 1) of the text bytes. The separator after the last document of
/// each part is left out, since it joins documents.
///
/// With 20 documents and more: whole documents in a pseudo-random order that depends on their
/// number and on no recipe key, so that all runs on the same data are validated on the same
/// documents. One that would take the held-out part above twice its share is passed over, unless
/// nothing else would be held out. Neither part is ever empty.
///
/// With fewer: the end of the stream, cut after the last line end that leaves at least `share` and
/// at most twice as much; exactly at the share where no line ends there.
///
/// Throws an input error, naming `name`, when there are too few tokens to split.
Split split_stream(const TokenStore& store, const Tokenizer& tokenizer, double share,
                   std::string_view name);

/// The share that a recipe's data.validation is, or nothing when it is a path.
std::optional<double> validation_share(const std::string& validation);

/// The whole stream as one range without its last separator.
std::vector<TokenRange> whole_stream(const TokenStore& store);

}  // namespace rondo
