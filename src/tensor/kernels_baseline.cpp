// The loops compiled for SSE4.2.
#include "tensor/kernels_body.h"

namespace rondo {
namespace {
struct Baseline {
  static constexpr std::int64_t kLanes = 4;
};
}  // namespace

const Kernels& baseline_kernels() {
  static constexpr Kernels kKernels = kernel_body::kernels_for<Baseline>("SSE4.2");
  return kKernels;
}

}  // namespace rondo
