// File names and files of other programs may hold bytes that no page or JSON text can.
#pragma once

#include <string>
#include <string_view>

namespace rondo {

/// The text with U+FFFD in the place of every byte that is not part of well-formed UTF-8.
std::string with_valid_utf8(std::string_view text);

}  // namespace rondo
