// The 277 ids that tasks are written in: the 256 bytes and 21 specials (arXiv 2610.07591 has as
// many). docs/notation.md lists them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {

/// Ids of a task's vocabulary: 0 … 255 are byte values, or elements of a group.
inline constexpr std::int32_t kTaskVocab = 277;
/// Begins every example.
inline constexpr std::int32_t kTaskBos = 256;
/// Ends an answer of several tokens; predicted, never read.
inline constexpr std::int32_t kTaskEos = 257;
/// Fills rows up to a common length; its target is never supervised.
inline constexpr std::int32_t kTaskPad = 258;

/// "<|bos|>", "<|eos|>", "<|pad|>", "<|reserved-0|>" … "<|reserved-17|>". Throws an input error for
/// an id that is not special.
std::string task_special_name(std::int32_t id);

/// Appends the bytes of `text` as ids.
void append_bytes(std::string_view text, std::vector<std::int32_t>& ids);

/// Ids as text: bytes as they are, specials by name.
std::string task_text(std::span<const std::int32_t> ids);

}  // namespace rondo
