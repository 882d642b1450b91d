// One forward pass written to a file, for checking from outside.
#pragma once

#include <optional>
#include <span>

#include "eval/open_model.h"

namespace rondo {

/// What the pass gave besides the file.
struct ForwardResult {
  std::optional<double> loss_nats;  ///< mean over the T − 1 next-token targets; none for one token
};

/// Runs `tokens` through `loops` loops in fp32 and writes `logits` [T, V] and `states` [r + 1, T,
/// D] (the state before the first loop and after each, before the coda) to a safetensors file; of
/// an RLT, which has 1 loop, `states` [1, T, D] is s. Throws input errors: no tokens, ids outside
/// the vocabulary, fewer than one loop.
ForwardResult write_forward(const StoredModel& stored, std::span<const std::int64_t> tokens,
                            std::int64_t loops, const fs::path& out);

}  // namespace rondo
