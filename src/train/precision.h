// The precision of a run.
#pragma once

#include "base/machine.h"
#include "config/enums.h"
#include "tensor/gemm.h"

namespace rondo {

/// fp32 or bf16 for this machine. "auto" is bf16 where there are matrix units for it (AMX), which
/// make a step several times faster, and fp32 elsewhere. Throws an input error for bf16 on a
/// machine without units for it.
///
/// bf16 rounds the factors of all products with weights; weights, optimiser, residual stream,
/// attention's own products, sums and gradients of weights stay in fp32.
Precision settle_precision(Precision wanted, const CpuFeatures& features);

/// What a settled precision means for products in training.
Factors factors_of(Precision settled);

}  // namespace rondo
