// What the optimiser adds to the time of a step.
#pragma once

#include "cost/time.h"

namespace rondo {

/// Floating-point operations of Muon's five Newton–Schulz steps for one matrix, as the fused form
/// does them (tensor/orthogonal): symmetric products in blocks below the diagonal, and clearly
/// long matrices by polynomials at their shorter size.
double newton_schulz_flops(double rows, double columns);

/// Gradient norm, AdamW and Muon.
StepSeconds update_seconds(const Config& config, std::int64_t vocab, const MachineSpeed& speed);

}  // namespace rondo
