// Layers and loops of a model in one string.
#pragma once

#include <array>
#include <string_view>

#include "config/config.h"

namespace rondo {

/// p + s x T + c: prelude, core and coda layers, and how often the core runs.
struct Layout {
  std::int64_t prelude = 0, core = 1, loops = 1, coda = 0;

  /// A key of a recipe and the value that it has.
  struct Key {
    std::string_view section, name;
    std::int64_t value;
  };
  [[nodiscard]] std::array<Key, 4> keys() const;

  /// Sets those keys. model.layout becomes empty, as they now say what it said.
  void apply_to(Config& config) const;
};

/// "1+2x9+1" (p + s x T + c) or "4x7" (no prelude, no coda). Throws an input error, which says that
/// the string stands at `where`.
Layout parse_layout(std::string_view text, std::string_view where);

}  // namespace rondo
