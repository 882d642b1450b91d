// Matrix products, by whichever library is quickest here. libtorch's own choice, oneMKL, uses half
// of what some processors can do; oneDNN compiles its kernels for the machine. Results and sums are
// in single precision; factors may be rounded to bf16 first.
#pragma once

#include "tensor/tensor.h"

namespace rondo {

/// Who computes single-precision products. Other precisions are always libtorch's.
enum class Gemm { kLibtorch, kOneDnn };

/// Sets the library for all products from here on, like the number of threads: once, at start.
void use_gemm(Gemm gemm);
Gemm gemm_in_use();

/// What products of single-precision matrices do with their factors: take them as they are, or
/// rounded to bf16 by the processor's units for it, or rounded and then multiplied in single
/// precision, which gives the same up to the order of sums on any machine, slowly.
enum class Factors { kFp32, kBf16, kBf16Emulated };

/// For the time it lives all products treat their factors so.
class FactorScope {
 public:
  explicit FactorScope(Factors factors);
  ~FactorScope();
  FactorScope(const FactorScope&) = delete;
  FactorScope& operator=(const FactorScope&) = delete;

 private:
  Factors before_;
};

/// Whether factors are rounded at present.
bool factors_are_bf16();
/// In what form products want what is computed for them, then.
at::ScalarType factor_type();

/// A single-precision `x` as products take it now: itself or a bf16 copy. For factors of several
/// products; multiply() rounds what is not yet rounded.
Tensor as_factor(const Tensor& x);

/// Shape of a product a [rows, inner] · b [inner, columns].
struct ProductShape {
  std::int64_t rows, inner, columns;
};

/// The quicker library for these products, timed in turn on the current threads (medians of
/// five). oneDNN unless libtorch is more than a tenth faster, so that two runs on
/// one machine choose alike.
Gemm quickest_gemm(std::span<const ProductShape> shapes);

/// out = a · b, or out += a · b: two-dimensional tensors of one kind, transposed views allowed.
/// Where factors are bf16, single-precision a and b are rounded and out stays in single precision.
void multiply(const Tensor& a, const Tensor& b, Tensor& out, bool add = false);

/// A matrix somewhere in memory: numbers between neighbours down and across, one of which is 1.
struct MatrixView {
  const void* data;
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
