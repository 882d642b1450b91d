// Seconds that work takes on a machine whose peak is known.
#pragma once

namespace rondo {

/// A measured machine.
struct Speed {
  double roof_gflops;       ///< matrix-product roof, 1e9 FLOPs per second
  double efficiency = 0.5;  ///< share of the roof that training reaches, in (0, 1]
};

/// Seconds for `flops` operations. Throws an input error when the speed is not positive.
double seconds_for(double flops, const Speed& speed);

/// Share of the roof that `flops` in `seconds` reached.
double roof_share(double flops, double seconds, double roof_gflops);

}  // namespace rondo
