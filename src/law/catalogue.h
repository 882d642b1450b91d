// The laws that Rondo knows by name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "law/form.h"

namespace rondo {

/// chinchilla, joint, joint-k1, iso-depth, bounded, parcae, parcae-test-time, data-constrained.
std::span<const std::string> law_names();

/// A law of the catalogue, or the form in a file when `name` ends in .toml. Throws an input error
/// with the nearest name.
LawForm find_law(const std::string& name);

}  // namespace rondo
