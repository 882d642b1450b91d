// The rotary table: angles of every position and frequency.
#pragma once

#include "config/config.h"
#include "tensor/ops.h"

namespace rondo {

/// Frequencies of a head of width K: base^(−2i/K), with Llama 3.1's scaling when asked. [K/2]
std::vector<double> rotary_frequencies(const ModelConfig& config);

/// Table for positions 0 … length − 1, computed in double precision, of the given type.
RotaryTable make_rotary(const ModelConfig& config, std::int64_t length, at::ScalarType type);

/// Makes `table` cover positions 0 … length − 1 if it does not: twice as many, so that reading
/// token by token makes few tables.
void grow(RotaryTable& table, const ModelConfig& config, std::int64_t length, at::ScalarType type);

}  // namespace rondo
