// What `rondo info` says about a recipe, as data and as text.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "config/config.h"

namespace rondo {

/// Facts from outside the recipe; what is 0 is left out of the description.
struct DescribeOptions {
  double roof_gflops = 0;   ///< measured roof; adds the time estimates
  double efficiency = 0.5;  ///< share of the roof that training is expected to reach
  /// Memory that may be used; picks the micro-batch when train.micro_batch is 0 (else: the batch).
  double memory_budget_bytes = 0;
  std::int64_t head_chunk_tokens = 0;
};

/// Counts and costs of a resolved recipe: parameters, flops_per_token, memory_bytes,
/// gradient_horizon, sharing, effective_depth, tokens, tokens_per_parameter, total_flops,
/// optimizer_groups, and what the options add.
Json describe(const Config& config, const DescribeOptions& options = {});

/// The same for people, with the FLOPs formula filled in.
std::string describe_text(const Config& config, const DescribeOptions& options = {});

}  // namespace rondo
