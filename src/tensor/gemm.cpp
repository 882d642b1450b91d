// oneDNN products with a cache of compiled kernels.
#include "tensor/gemm.h"

#include <omp.h>

#include <array>
#include <atomic>
#include <chrono>
#include <compare>
#include <map>
#include <oneapi/dnnl/dnnl.hpp>

#include "base/statistics.h"
#include "tensor/profile.h"

namespace rondo {
namespace {

std::atomic<Gemm> in_use = Gemm::kLibtorch;
std::atomic<Factors> factors_in_use = Factors::kFp32;

using Clock = std::chrono::steady_clock;

const dnnl::engine& cpu() {
  static const dnnl::engine kEngine(dnnl::engine::kind::cpu, 0);
  return kEngine;
}

// What a compiled kernel depends on.
struct Key {
  std::array<std::int64_t, 10> numbers;
  auto operator<=>(const Key&) const = default;
};

// A kernel with the memory objects that it is called with; only their addresses change.
struct Kernel {
  dnnl::matmul product;
  dnnl::memory left, right, out;
};

using Kind = dnnl::memory::data_type;

dnnl::memory::desc describe(const MatrixView& matrix, Kind kind) {
  return {{matrix.rows, matrix.columns}, kind, dnnl::memory::dims{matrix.down, matrix.across}};
}

Kernel compile(const MatrixView& a, const MatrixView& b, Kind kind, std::int64_t out_down,
               bool add) {
  dnnl::primitive_attr attributes;
  if (add) {
    dnnl::post_ops sum;
    sum.append_sum();
    attributes.set_post_ops(sum);
  }
  const auto left = describe(a, kind), right = describe(b, kind),
             out = describe({nullptr, a.rows, b.columns, out_down, 1}, Kind::f32);
  const dnnl::matmul::primitive_desc product({left, right, out}, attributes, cpu());
  return {dnnl::matmul(product), dnnl::memory(left, cpu(), nullptr),
          dnnl::memory(right, cpu(), nullptr), dnnl::memory(out, cpu(), nullptr)};
}

// A training run needs a few dozen kernels; a server that meets every length must not keep all.
constexpr std::size_t kMostKernels = 2048;

// Compiling takes a millisecond or more. Each thread has its own list, so that looking one up takes
// no lock; oneDNN shares the compiled code.
Kernel& kernel_for(const MatrixView& a, const MatrixView& b, Kind kind, std::int64_t out_down,
                   bool add) {
  thread_local std::map<Key, Kernel> kernels;
  const Key key{{a.rows, a.columns, b.columns, a.down, a.across, b.down, b.across, out_down,
                 2 * omp_get_max_threads() + (add ? 1 : 0), static_cast<std::int64_t>(kind)}};
  const auto known = kernels.find(key);
  if (known != kernels.end()) return known->second;
  if (kernels.size() >= kMostKernels) kernels.clear();
  return kernels.emplace(key, compile(a, b, kind, out_down, add)).first->second;
}

void run(const MatrixView& a, const MatrixView& b, Kind kind, float* out, std::int64_t out_down,
         bool add) {
  thread_local dnnl::stream stream(cpu());
  auto& kernel = kernel_for(a, b, kind, out_down, add);
  // The interface takes no pointers to constants.
  kernel.left.set_data_handle(const_cast<void*>(a.data));
  kernel.right.set_data_handle(const_cast<void*>(b.data));
  kernel.out.set_data_handle(out);
  kernel.product.execute(
      stream,
      {{DNNL_ARG_SRC, kernel.left}, {DNNL_ARG_WEIGHTS, kernel.right}, {DNNL_ARG_DST, kernel.out}});
  stream.wait();
}

// Neighbours in one direction must lie side by side, as kernels load whole vectors.
Tensor laid_out(const Tensor& matrix) {
  const bool rows = matrix.stride(1) == 1 && matrix.stride(0) >= matrix.size(1);
  const bool columns = matrix.stride(0) == 1 && matrix.stride(1) >= matrix.size(0);
  return rows || columns ? matrix : matrix.contiguous();
}

MatrixView view(const Tensor& matrix) {
  return {matrix.data_ptr(), matrix.size(0), matrix.size(1), matrix.stride(0), matrix.stride(1)};
}

void multiply_with_onednn(const Tensor& a, const Tensor& b, Tensor& out, bool add) {
  const auto left = laid_out(a), right = laid_out(b);
  const auto kind = a.scalar_type() == at::kBFloat16 ? Kind::bf16 : Kind::f32;
  run(view(left), view(right), kind, out.data_ptr<float>(), out.stride(0), add);
}

bool suits_onednn(const Tensor& a, const Tensor& b, const Tensor& out) {
  return a.scalar_type() == b.scalar_type() &&
         (a.scalar_type() == at::kFloat || a.scalar_type() == at::kBFloat16) &&
         out.scalar_type() == at::kFloat && a.is_cpu() && out.stride(1) == 1 && a.numel() > 0 &&
         b.numel() > 0;
}

void multiply_as_they_are(const Tensor& a, const Tensor& b, Tensor& out, bool add) {
  if (gemm_in_use() == Gemm::kOneDnn && suits_onednn(a, b, out)) {
    multiply_with_onednn(a, b, out, add);
  } else if (add) {
    out.addmm_(a, b);
  } else {
    at::mm_out(out, a, b);
  }
}

double seconds_of(Gemm gemm, const Tensor& a, const Tensor& b, Tensor& out) {
  const auto start = Clock::now();
  if (gemm == Gemm::kOneDnn) {
    multiply_with_onednn(a, b, out, false);
  } else {
    at::mm_out(out, a, b);
  }
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

void multiply_alone(const MatrixView& a, const MatrixView& b, float* out, std::int64_t out_down,
                    bool add) {
  run(a, b, Kind::f32, out, out_down, add);
}

OneThread::OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
OneThread::~OneThread() { omp_set_num_threads(before_); }

void use_gemm(Gemm gemm) { in_use = gemm; }
Gemm gemm_in_use() { return in_use; }

FactorScope::FactorScope(Factors factors) : before_(factors_in_use.exchange(factors)) {}
FactorScope::~FactorScope() { factors_in_use = before_; }

bool factors_are_bf16() { return factors_in_use != Factors::kFp32; }
at::ScalarType factor_type() { return factors_are_bf16() ? at::kBFloat16 : at::kFloat; }

Tensor as_factor(const Tensor& x) {
  return factors_are_bf16() && x.scalar_type() == at::kFloat ? x.to(at::kBFloat16) : x;
}

Gemm quickest_gemm(std::span<const ProductShape> shapes) {
  constexpr int kRepetitions = 5;
  const NoGrad guard;
  double libtorch = 0, onednn = 0;
  for (const auto& shape : shapes) {
    const auto a = at::ones({shape.rows, shape.inner}), b = at::ones({shape.columns, shape.inner});
    auto out = at::empty({shape.rows, shape.columns});
    std::vector<double> times[2];
    for (int i = 0; i <= kRepetitions; ++i) {
      const double first = seconds_of(Gemm::kLibtorch, a, b.t(), out);
      const double second = seconds_of(Gemm::kOneDnn, a, b.t(), out);
      if (i == 0) continue;  // compiles, and touches the pages
      times[0].push_back(first);
      times[1].push_back(second);
    }
    libtorch += median(times[0]);
    onednn += median(times[1]);
  }
  constexpr double kClearly = 0.9;
  return libtorch < kClearly * onednn ? Gemm::kLibtorch : Gemm::kOneDnn;
}

double known_product_gflops() {
  static std::map<Gemm, double> known;
  const auto place = known.find(gemm_in_use());
  if (place != known.end()) return place->second;
  constexpr std::int64_t kSize = 1024;
  constexpr int kRepetitions = 5;
  const NoGrad guard;
  const auto a = at::ones({kSize, kSize}), b = at::ones({kSize, kSize});
  auto out = at::empty({kSize, kSize});
  std::vector<double> seconds;
  for (int i = 0; i <= kRepetitions; ++i) {
    const double one = seconds_of(gemm_in_use(), a, b, out);
    if (i > 0) seconds.push_back(one);
  }
  return known[gemm_in_use()] = 2.0 * kSize * kSize * kSize / median(seconds) / 1e9;
}

void multiply(const Tensor& a, const Tensor& b, Tensor& out, bool add) {
  const ProfileScope scope(Part::kProducts);
  if (out.scalar_type() == at::kFloat && factors_in_use == Factors::kBf16)
    return multiply_with_onednn(as_factor(a), as_factor(b), out, add);
  if (out.scalar_type() == at::kFloat && factors_in_use == Factors::kBf16Emulated)
    return multiply_as_they_are(as_factor(a).to(at::kFloat), as_factor(b).to(at::kFloat), out, add);
  multiply_as_they_are(a, b, out, add);
}

}  // namespace rondo
