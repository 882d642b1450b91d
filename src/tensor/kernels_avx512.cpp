// The loops compiled for AVX-512.
#include "tensor/kernels_body.h"

namespace rondo {
namespace {
struct Avx512 {
  static constexpr std::int64_t kLanes = 16;
};
}  // namespace

const Kernels& avx512_kernels() {
  static constexpr Kernels kKernels = kernel_body::kernels_for<Avx512>("AVX-512");
  return kKernels;
}

}  // namespace rondo
