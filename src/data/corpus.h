// Text files tokenised into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "data/token_store.h"
#include "data/tokenizer.h"

namespace rondo {

/// Smallest width in bytes (1, 2 or 4) that holds every id of a vocabulary. Throws an input error
/// for a vocabulary below 1 or above 2^31 − 1, where ids end.
unsigned token_width(std::int64_t vocab);

/// Appends ids at a width of 1, 2 or 4 bytes, little-endian. They must fit.
void append_tokens(std::vector<std::byte>& out, unsigned width, std::span<const std::int32_t> ids);

/// Tokenises all documents of `files` (see data/text.h) into one part named `name`. Throws what the
/// reader throws, and an input error when there is no document.
std::shared_ptr<const TokenStore> load_text(const std::vector<fs::path>& files,
                                            const Tokenizer& tokenizer, const std::string& name);

/// SHA-256 of a list of files: the file's own for one, else that of their digests, one a line
/// (`sha256sum FILES | cut -c1-64 | sha256sum`).
std::string files_sha256(const std::vector<fs::path>& files);

}  // namespace rondo
