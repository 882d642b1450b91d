// `rondo bench roof`: what the machine can do, and how near to it the parts of a step come.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/statistics.h"
#include "tensor/gemm.h"
#include "tensor/ops.h"
#include "tensor/roof.h"
#include "train/bench.h"

namespace rondo {
namespace {

using Clock = std::chrono::steady_clock;

// A piece of work and what it counts: FLOPs against the product, bytes against the bandwidth.
struct Work {
  std::string name;
  double flops, bytes;
  std::function<void()> run;
  std::vector<double> seconds{};

  [[nodiscard]] double amount() const { return flops > 0 ? flops : bytes; }
};

void add_products(std::vector<Work>& works, const ProductShape& shape) {
  const auto a = at::ones({shape.rows, shape.inner}), b = at::ones({shape.columns, shape.inner});
  auto out = at::empty({shape.rows, shape.columns});
  for (const auto& [gemm, name] :
       {std::pair(Gemm::kLibtorch, "libtorch"), std::pair(Gemm::kOneDnn, "onednn")}) {
    works.push_back({fmt::format("{} {}x{}x{}", name, shape.rows, shape.inner, shape.columns),
                     2.0 * static_cast<double>(shape.rows * shape.inner * shape.columns), 0,
                     [a, b, out, gemm = gemm]() mutable {
                       use_gemm(gemm);
                       multiply(a, b.t(), out);
                     }});
  }
}

// Operations that are bound by memory, on arrays that no cache holds, and attention.
void add_operations(std::vector<Work>& works) {
  constexpr std::int64_t kRows = 65536, kWidth = 512;
  const auto numbers = static_cast<double>(kRows * kWidth);
  const auto x = at::ones({kRows, kWidth}), gains = at::ones({kWidth});
  works.push_back(
      {"rms_norm", 0, 8 * numbers, [x, gains] { rms_norm(x, gains, 1e-5, Form::kFused); }});
  works.push_back({"swiglu", 0, 6 * numbers, [x] { swiglu(x, Form::kFused); }});
  constexpr std::int64_t kBatch = 16, kLength = 256, kHeads = 4, kHead = 64;
  const auto qkv = at::ones({kBatch, kLength, 3 * kHeads * kHead});
  const auto angles = at::ones({kLength, kHead / 2});
  const JointHeads how{.heads = kHeads, .groups = kHeads, .rotary = {angles, angles}};
  const double seen = 0.5 * static_cast<double>(kLength * (kLength + 1));
  works.push_back({"attention 16x256x4x64",
                   4.0 * seen * static_cast<double>(kBatch * kHeads * kHead), 0, [qkv, how] {
                     use_gemm(Gemm::kOneDnn);
                     joint_attention(qkv, {}, {}, how, {}, Form::kFused);
                   }});
}

double seconds_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

std::vector<BenchRow> bench_roof(const BenchOptions& options) {
  const NoGrad guard;
  std::vector<Work> works;
  for (const auto& shape :
       {ProductShape{2048, 2048, 2048}, ProductShape{4096, 256, 768}, ProductShape{4096, 256, 1376},
        ProductShape{4096, 688, 256}, ProductShape{4096, 256, 4096}})
    add_products(works, shape);
  add_operations(works);
  for (auto& work : works) work.run();

  RoofSampler roof;
  Progress progress("bench roof");
  std::vector<double> products, bandwidths;
  for (int round = 1; round <= options.rounds && interrupt_signal() == 0; ++round) {
    progress.update(fmt::format("round {} of {}", round, options.rounds));
    for (auto& work : works) {
      products.push_back(roof.sample());
      for (int i = 0; i < options.steps; ++i) work.seconds.push_back(seconds_of(work.run));
    }
    bandwidths.push_back(measure_bandwidth_gbs(options.steps));
  }
  use_gemm(Gemm::kLibtorch);
  if (bandwidths.empty()) return {};

  const double product = median(products) * 1e9, bandwidth = median(bandwidths) * 1e9;
  std::vector<BenchRow> rows = {
      {"product roof", "flops_per_s", product, "FLOP/s", 1.0},
      {"bandwidth roof", "bytes_per_s", bandwidth, "B/s", 1.0},
  };
  for (const auto& work : works) {
    const double rate = work.amount() / median(work.seconds);
    if (work.flops > 0) {
      rows.push_back({work.name, "flops_per_s", rate, "FLOP/s", rate / product});
    } else {
      rows.push_back({work.name, "bytes_per_s", rate, "B/s", rate / bandwidth});
    }
  }
  return rows;
}

}  // namespace rondo
