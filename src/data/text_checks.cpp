// What counts as text: the checks that plain text and JSONL share.
#include "data/text_checks.h"

#include <algorithm>
#include <cstdint>

#include "base/error.h"
#include "base/text.h"

namespace rondo {

std::size_t byte_order_mark(std::string_view text) {
  return text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
}

void check_text(std::string_view text, const TextOrigin& origin) {
  const std::size_t zero = text.find('\0');
  const std::size_t invalid = invalid_utf8(text.substr(0, zero)).value_or(zero);
  if (invalid == std::string_view::npos) return;
  const auto before = text.substr(0, invalid);
  const auto line =
      origin.line + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const unsigned byte = static_cast<unsigned char>(text[invalid]);
  const bool utf16 = origin.offset + invalid == 0 && (byte == 0xFF || byte == 0xFE);
  fail("{}:{}: byte {} (0x{:02X}) is not {}; expected UTF-8{}", origin.source, line,
       origin.offset + invalid, byte, byte == 0 ? "part of any text" : "valid UTF-8",
       utf16 ? " (this looks like UTF-16; convert it first)" : "");
}

}  // namespace rondo
