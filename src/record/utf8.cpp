// Replacing what is not UTF-8.
#include "record/utf8.h"

#include "base/text.h"

namespace rondo {

std::string with_valid_utf8(std::string_view text) {
  std::string out;
  while (const auto bad = invalid_utf8(text)) {
    out += text.substr(0, *bad);
    out += "\xEF\xBF\xBD";
    text.remove_prefix(*bad + 1);
  }
  return out += text;
}

}  // namespace rondo
