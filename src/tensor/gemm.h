// Matrix products in single precision, by whichever library is quickest here. libtorch's own
// choice, oneMKL, uses half of what some processors can do; oneDNN compiles its kernels for the
// machine.
#pragma once

#include "tensor/tensor.h"

namespace rondo {

/// Who computes single-precision products. Other precisions are always libtorch's.
enum class Gemm { kLibtorch, kOneDnn };

/// Sets the library for all products from here on, like the number of threads: once, at start.
void use_gemm(Gemm gemm);
Gemm gemm_in_use();

/// Shape of a product a [rows, inner] · b [inner, columns].
struct ProductShape {
  std::int64_t rows, inner, columns;
};

/// The quicker library for these products, timed in turn on the current threads (medians of
/// five). oneDNN unless libtorch is more than a tenth faster, so that two runs on
/// one machine choose alike.
Gemm quickest_gemm(std::span<const ProductShape> shapes);

/// out = a · b, or out += a · b: two-dimensional tensors of one kind, transposed views allowed.
void multiply(const Tensor& a, const Tensor& b, Tensor& out, bool add = false);

/// A matrix somewhere in memory: numbers between neighbours down and across, one of which is 1.
struct MatrixView {
  const float* data;
  std::int64_t rows, columns, down, across;

  [[nodiscard]] MatrixView transposed() const { return {data, columns, rows, across, down}; }
};

/// The same with oneDNN on the calling thread alone, inside a parallel region (see OneThread).
/// `out` is row by row.
void multiply_alone(const MatrixView& a, const MatrixView& b, float* out, std::int64_t out_down,
                    bool add = false);

/// For the time it lives oneDNN uses one thread in the calling thread.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

/// GFLOP/s of multiply() on matrices of 1024 × 1024 with the library in use; measured once per
/// process and library.
double known_product_gflops();

}  // namespace rondo
