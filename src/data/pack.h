// Packing text into token shards.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/files.h"
#include "data/tokenizer.h"

namespace rondo {

struct PackOptions {
  std::vector<fs::path> inputs;  ///< files or folders, see text_files()
  fs::path out;                  ///< folder for the shards; created, must hold none yet
  std::string name = "tokens";   ///< shards are called NAME-00000.rondo …
  unsigned width = 0;            ///< bytes per token: 1, 2, 4; 0 = the smallest that will do
  /// A shard ends with the document that brings it to this many tokens.
  std::uint64_t shard_tokens = std::uint64_t{1} << 28;
};

struct PackProgress {
  std::uint64_t bytes = 0;        ///< of the input files read so far (whole files, and text since)
  std::uint64_t total_bytes = 0;  ///< of all input files
  std::uint64_t documents = 0;
  std::uint64_t tokens = 0;
};

struct PackResult {
  std::uint64_t tokens = 0;  ///< one separator per document included
  std::uint64_t documents = 0;
  std::uint64_t bytes = 0;  ///< of text, without separators
  std::vector<fs::path> shards;
};

/// Tokenises the documents of all inputs into shards, in bounded memory. `progress`, when given, is
/// called after every document and may throw to stop; nothing is left behind then. Throws input
/// errors for what cannot be read, errors of the work for what cannot be written.
PackResult pack(const PackOptions& options, const Tokenizer& tokenizer,
                const std::function<void(const PackProgress&)>& progress = {});

}  // namespace rondo
