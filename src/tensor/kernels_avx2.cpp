// The loops compiled for AVX2.
#include "tensor/kernels_body.h"

namespace rondo {
namespace {
struct Avx2 {
  static constexpr std::int64_t kLanes = 8;
};
}  // namespace

const Kernels& avx2_kernels() {
  static constexpr Kernels kKernels = kernel_body::kernels_for<Avx2>("AVX2");
  return kKernels;
}

}  // namespace rondo
