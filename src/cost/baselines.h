// Non-looped recipes that match a looped one in parameters, training FLOPs, or KV memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"

namespace rondo {

/// A plain transformer matched to a looped recipe. Equal to it in everything that is not listed
/// here: tokens (steps, batch, length), data, seed, optimisation, width, heads, vocabulary.
struct Baseline {
  std::string match;  ///< "parameters", "flops" or "kv"
  Config config;      ///< resolved; one loop, no injection, no loop norm
  std::int64_t parameters;
  double flops_per_token;   ///< training, head and attention included
  double target, achieved;  ///< the matched quantity of the recipe and of the baseline
  double relative_error;    ///< achieved / target − 1
  std::string how;          ///< what was changed, for people
};

/// The three baselines of a resolved recipe, in the order above.
///   parameters: the same p + s + c layers once, d_ff chosen for equal total parameters;
///   flops:      more core layers, then d_ff, for equal training FLOPs per token at the means of T
///               and B over the draws;
///   kv:         p + s T + c layers with the same d_ff: equal KV bytes per token.
std::vector<Baseline> matched_baselines(const Config& config);

}  // namespace rondo
