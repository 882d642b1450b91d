// Names of the special ids, and ids to and from text.
#include "data/task_tokens.h"

#include "base/error.h"

namespace rondo {

std::string task_special_name(std::int32_t id) {
  require(id >= kTaskBos && id < kTaskVocab, "token {}: expected a special id from {} to {}", id,
          kTaskBos, kTaskVocab - 1);
  if (id == kTaskBos) return "<|bos|>";
  if (id == kTaskEos) return "<|eos|>";
  if (id == kTaskPad) return "<|pad|>";
  return fmt::format("<|reserved-{}|>", id - kTaskPad - 1);
}

void append_bytes(std::string_view text, std::vector<std::int32_t>& ids) {
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
}

std::string task_text(std::span<const std::int32_t> ids) {
  std::string text;
  for (const std::int32_t id : ids) {
    if (id >= 0 && id < kTaskBos)
      text += static_cast<char>(id);
    else
      text += task_special_name(id);
  }
  return text;
}

}  // namespace rondo
