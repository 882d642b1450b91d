// What history and timestep add to the time of a pass.
#pragma once

#include "cost/time.h"

namespace rondo {

/// How often the loops of a pass run, and over how many tokens.
struct ConditionedLoops {
  double tokens, loops;      ///< of a pass
  double forward, backward;  ///< loops that run so, recomputed ones twice
};

StepSeconds conditioning_seconds(const ModelConfig& model, const ConditionedLoops& pass,
                                 const MachineSpeed& speed);

}  // namespace rondo
