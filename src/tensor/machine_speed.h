// Measuring what a training step is made of, for the cost model.
#pragma once

#include "base/json.h"

namespace rondo {

/// Measures this machine with the current threads in about three seconds and 300 MB: matrix
/// products, attention, the block's elementwise operations, whole blocks, memory traffic, calls.
/// The JSON is what cost/machine_speed.h reads (this layer does not know that one). Medians of a
/// few repetitions; a busy machine measures slow.
Json measure_machine_speed();

}  // namespace rondo
