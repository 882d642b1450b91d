// Recipes for the tests of costs.
#pragma once

#include <string>

#include "config/recipe.h"

namespace rondo::test {

/// A resolved recipe from TOML text over the defaults.
inline Config recipe(const std::string& text = "") { return parse_recipe(text, "test.toml"); }

/// A recipe over the defaults from `key=value` settings.
inline Config with(const Overrides& settings) { return parse_recipe("", "test.toml", settings); }

}  // namespace rondo::test
