// Recipes: reading TOML strictly, resolving what is left open, writing, comparing, hashing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace rondo {

/// A `key=value` given on the command line.
using Overrides = std::vector<std::string>;

/// Reads TOML text over the defaults of its `size`, then the overrides; checks and resolves it.
/// `source` names the text in errors ("runs/a/config.toml"). Throws input errors with file, line
/// and full key: bad syntax, unknown key (with the nearest known one), wrong type, out of range,
/// settings that contradict each other.
Config parse_recipe(std::string_view text, std::string_view source,
                    const Overrides& overrides = {});

/// Reads a recipe file; a folder with a `config.toml` (a run) counts as its recipe.
Config read_recipe(const std::string& path, const Overrides& overrides = {});

/// Fills in what the recipe leaves to be derived (kv_heads, head_dim, d_ff, loops.max) and checks
/// the whole for contradictions. `source` names the recipe in errors.
void resolve(Config& config, std::string_view source);

/// The config as TOML text, every key written: itself a recipe that reads back equal.
std::string to_toml(const Config& config);

/// SHA-256 over what decides the numbers of a run: all but keys of the other kind
/// of model, stop_after, validate_every,
/// checkpoint_every, keep, engine.threads, and steps where the schedule does not depend on it.
std::string config_hash(const Config& config);

/// "key: a → b" for each field in which two configs differ and that config_hash covers.
std::vector<std::string> differences(const Config& a, const Config& b);

/// Things that are allowed and worth a word ("train.warmup_steps 100 ≥ train.steps 50: …").
std::vector<std::string> notes(const Config& config);

/// The keys with default, range and meaning as a Markdown table (docs/recipe.md).
std::string recipe_reference();

}  // namespace rondo
