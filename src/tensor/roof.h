// The speed of the machine's matrix products, against which every training speed is held.
#pragma once

namespace rondo {

/// GFLOP/s of the library's own fp32 product of 2048 × 2048 matrices with the current threads:
/// median of `repetitions`.
double measure_roof_gflops(int repetitions = 3);

/// The same, measured once per process: good enough for progress lines and estimates.
double known_roof_gflops();

}  // namespace rondo
