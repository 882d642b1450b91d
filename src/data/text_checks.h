// What counts as text: the checks that plain text and JSONL share.
#pragma once

#include <cstddef>
#include <string_view>

namespace rondo {

/// Where a piece of text begins, for errors.
struct TextOrigin {
  std::string_view source;
  std::size_t line = 1;    ///< from 1
  std::size_t offset = 0;  ///< bytes from the start of the source
};

/// Bytes that a UTF-8 byte order mark takes at the start of `text`: 3 or 0.
std::size_t byte_order_mark(std::string_view text);

/// Throws an input error that names source, line and byte offset unless `text` is well-formed UTF-8
/// without byte 0. Byte 0 separates documents, and is the mark of a file that is not text.
void check_text(std::string_view text, const TextOrigin& origin);

}  // namespace rondo
