// Holding back characters that are not whole and stops that may be.
#include "eval/text_stream.h"

#include <algorithm>

#include "record/utf8.h"

namespace rondo {
namespace {

/// Bytes of the character that begins with `lead`; 1 for a byte that begins none.
std::size_t character_bytes(unsigned char lead) {
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  return lead >= 0xC2 && lead < 0xE0 ? 2 : 1;
}

/// Where a character that the text breaks off in begins; the text's size when it does not.
std::size_t whole_characters(std::string_view text) {
  const auto size = text.size();
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, size); ++back) {
    const auto byte = static_cast<unsigned char>(text[size - back]);
    if ((byte & 0xC0U) == 0x80U) continue;
    return character_bytes(byte) > back ? size - back : size;
  }
  return size;
}

/// Length of the longest beginning of `stop` that `text` ends with.
std::size_t overlap(std::string_view text, std::string_view stop) {
  for (auto length = std::min(text.size(), stop.size()); length > 0; --length)
    if (text.ends_with(stop.substr(0, length))) return length;
  return 0;
}

}  // namespace

std::string TextStream::let_out(std::size_t count) {
  const auto text = with_valid_utf8(std::string_view(held_).substr(0, count));
  held_.erase(0, count);
  return text;
}

std::string TextStream::add(std::string_view bytes) {
  if (stopped_) return {};
  held_ += bytes;
  auto first = std::string::npos;
  for (const auto& stop : stops_) first = std::min(first, held_.find(stop));
  if (first != std::string::npos) {
    stopped_ = true;
    auto text = let_out(first);
    held_.clear();
    return text;
  }
  auto certain = whole_characters(held_);
  for (const auto& stop : stops_) certain = std::min(certain, held_.size() - overlap(held_, stop));
  return let_out(certain);
}

std::string TextStream::finish() { return let_out(held_.size()); }

}  // namespace rondo
