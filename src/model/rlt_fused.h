// run_core() as one operation with a backward pass of its own: no graph over tokens, contiguous
// buffers, weights' gradients from few large products.
#pragma once

#include "model/rlt_core.h"

namespace rondo {

/// Whether the fused core can take this: single precision on the CPU, and no gradient that flows
/// out of the state that it begins with or hands on.
bool suits_fused_core(const CoreSetting& setting, const Tensor& e_BTD, const DecoderState& state);

/// run_core(). `gate_of_e_BTD` is e's part of the gate, undefined without merge.
Tensor run_fused_core(const CoreWeights& weights, const CoreSetting& setting, const Tensor& e_BTD,
                      const Tensor& gate_of_e_BTD, const MemoryKv& memory, DecoderState& state);

}  // namespace rondo
