// Which keys of a recipe mean something for which kind of model.
#pragma once

#include <string_view>

#include "config/config.h"

namespace rondo {

/// Whether a key (full name, "model.window") has a meaning for models of this kind. Keys that have
/// none are left out of written recipes, of the hash and of comparisons.
bool applies(std::string_view key, ModelKind kind);

/// Layers that there are: p + s + c, or L_E + L_D.
std::int64_t physical_depth(const Config& config);

/// Layers that a token passes through: p + s T + c, or L_E + L_D.
std::int64_t effective_depth(const Config& config);

}  // namespace rondo
