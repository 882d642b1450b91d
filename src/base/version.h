// The version of the program, as records and files carry it.
#pragma once

namespace rondo {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace rondo
