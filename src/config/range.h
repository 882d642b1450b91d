// Ranges of the numbers in a recipe.
#pragma once

namespace rondo {

/// Closed interval of allowed numbers.
struct Range {
  double low, high;
};
inline constexpr double kHuge = 1e15;
inline constexpr Range kAny{-kHuge, kHuge}, kNotNegative{0, kHuge}, kPositive{1, kHuge};
inline constexpr Range kAboveZero{1e-300, kHuge}, kShare{0, 1};
/// Far beyond any use; keeps mistyped numbers from being laid out layer by layer.
inline constexpr Range kLayers{0, 10000}, kLoops{1, 1000000};
/// Beyond it a gate is open or shut to the last digit of single precision.
inline constexpr Range kGateBias{-30, 30};
/// Lengths of a task's examples; 0 = the task's own.
inline constexpr Range kTaskLength{0, 4096};
/// More than machines have; OpenMP dies of a hundred thousand.
inline constexpr Range kThreads{0, 4096};

}  // namespace rondo
