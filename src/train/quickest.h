// Choices made by measuring the parts of the step that is to be trained.
#pragma once

#include "config/config.h"

namespace rondo {

/// The quicker library for the products of the recipe's blocks: libtorch with the composed form.
/// Sets the number of threads.
GemmChoice quickest_gemm_for(const Config& config);

/// Sequences per forward pass, a divisor of the batch of at most `fits`: forward and backward
/// passes of one block are timed at one to eight thousand tokens, and the smallest that is within a
/// few percent of the best is taken, since less memory is worth that much. Sets threads and
/// products. What was found before on this machine is used again.
std::int64_t quickest_micro_batch(const Config& config, std::int64_t fits);

}  // namespace rondo
