// What `rondo info` says about a recipe, as data and as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"
#include "config/config.h"
#include "cost/machine_speed.h"

namespace rondo {

/// Facts from outside the recipe; what is 0 or absent is left out of the description.
struct DescribeOptions {
  /// Measured speed; adds the time estimates.
  std::optional<MachineSpeed> speed = std::nullopt;
  /// Memory that may be used; picks the micro-batch when train.micro_batch is 0 (else: the batch).
  double memory_budget_bytes = 0;
  std::int64_t head_chunk_tokens = 0;
};

/// Counts and costs of a resolved recipe: parameters, flops_per_token, memory_bytes,
/// gradient_horizon, sharing, effective_depth, decoder_stages (of an RLT), tokens,
/// tokens_per_parameter, total_flops, optimizer_groups, inference by loops, and what the options
/// add.
Json describe(const Config& config, const DescribeOptions& options = {});

/// The same for people, with the FLOPs formula filled in.
std::string describe_text(const Config& config, const DescribeOptions& options = {});

}  // namespace rondo
