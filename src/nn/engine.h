// From the recipe's [engine] to what the operations go by.
#pragma once

#include "config/config.h"
#include "tensor/ops.h"

namespace rondo {

/// Which form of the operations a model uses.
Form form_of(const EngineConfig& engine);

/// Sets the library of all matrix products from here on. An engine that was not settled ("auto")
/// gets libtorch's.
void use_engine(const EngineConfig& engine);

}  // namespace rondo
