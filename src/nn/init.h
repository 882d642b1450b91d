// All initial values of a model, and where they come from.
#pragma once

#include "config/config.h"
#include "nn/parameter.h"

namespace rondo {

/// Gives a parameter its initial value. The numbers depend on (seed, name, element) only, so a
/// model can grow a part without changing the start of the others.
///
// clang-format off
/// | role | normal | scaled (papers.md B.3: width-µP code base) | uniform (A.5: iso-depth law) |
/// |---|---|---|---|
/// | embedding, an RLT's first state | N(0, 0.02) | N(0, 0.02) | N(0, 1) |
/// | untied head | N(0, 0.02) | N(0, 0.02) | N(0, 0.001) |
/// | hidden matrix [out, in] | N(0, 0.02) | N(0, 0.5/√in · min(1, √(out/in))) | U(−√(3/in), √(3/in)) |
/// | matrix into the residual stream | N(0, 0.02) | as above, / stored layers or `residual_divisor` | as above |
/// | gains | 1 | 1 | 1 |
/// | biases | 0 | 0 | 0 |
/// | dense injection | [I ; 0], or [0 ; I] with injection_init "input", in all three | | |
/// | scalar and channel factors | the contract's start values (plain looping) | | |
/// | histories, timesteps | 0 | 0 | 0 |
// clang-format on
void initialise(const std::string& name, Parameter& parameter, const ModelConfig& config,
                std::uint64_t seed);

}  // namespace rondo
