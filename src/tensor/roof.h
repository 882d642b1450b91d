// The speed of the machine's matrix products, against which every training speed is held.
#pragma once

#include "tensor/tensor.h"

namespace rondo {

/// GFLOP/s of the library's own fp32 product of 2048 × 2048 matrices with the current threads:
/// median of `repetitions`.
double measure_roof_gflops(int repetitions = 3);

/// One such product at a time, for callers that sample between pieces of work.
class RoofSampler {
 public:
  RoofSampler();
  /// GFLOP/s of one product.
  double sample();

 private:
  Tensor a_, b_, c_;
};

/// GB/s at which all threads together read and sum 256 MiB: median of `repetitions`.
double measure_bandwidth_gbs(int repetitions = 5);

/// The same as measure_roof_gflops, measured once per process: good enough for progress lines and
/// estimates.
double known_roof_gflops();

}  // namespace rondo
