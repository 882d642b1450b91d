// What `rondo bench lm` and `rondo bench rlt` train.
#pragma once

#include <string>
#include <vector>

#include "config/recipe.h"

namespace rondo {

/// A case with the recipe behind it, settled for this machine.
struct BenchCase {
  std::string name;
  Config config;
};

/// A set of cases: looped models on text, or recurrent ones at the sizes of their paper.
enum class Benchmark { kLm, kRlt };

/// The cases of a benchmark. Looped: width 256 with several (T, B), one wider, one of small
/// products, and one whose loops are drawn anew every step. Recurrent: feedback at every token,
/// every fourth, every eighth, none, and a transformer of as many layers.
std::vector<std::string> bench_case_names(Benchmark benchmark);

/// The case that `name` means: a known name, and after it any number of changes of its own
/// ("a44:engine.fused=false"). `set` comes before those. Throws an input error with the nearest
/// name.
BenchCase find_bench_case(Benchmark benchmark, const std::string& name, const Overrides& set);

}  // namespace rondo
