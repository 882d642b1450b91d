// What `rondo bench lm` trains.
#pragma once

#include <span>
#include <string>

#include "config/recipe.h"

namespace rondo {

/// A case with the recipe behind it, settled for this machine.
struct BenchCase {
  std::string name;
  Config config;
};

/// Names of the known cases: width 256 with several (T, B), one wider, one of small products, and
/// one whose loops are drawn anew every step.
std::span<const std::string> bench_case_names();
/// Those that run unless told otherwise.
std::vector<std::string> default_bench_cases();

/// The case that `name` means: a known name, and after it any number of changes of its own
/// ("a44:engine.fused=false"). `set` comes before those. Throws an input error with the nearest
/// name.
BenchCase find_bench_case(const std::string& name, const Overrides& set);

}  // namespace rondo
