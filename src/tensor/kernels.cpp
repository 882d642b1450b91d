// Choosing the loops for this processor.
#include "tensor/kernels.h"

#include "base/machine.h"

namespace rondo {

const Kernels& kernels() {
  static const Kernels& kBest = []() -> const Kernels& {
    const auto features = cpu_features();
    if (features.avx512) return avx512_kernels();
    return features.avx2 ? avx2_kernels() : baseline_kernels();
  }();
  return kBest;
}

}  // namespace rondo
