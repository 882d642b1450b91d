// Measuring the roofs.
#include "tensor/roof.h"

#include <chrono>
#include <vector>

#include "base/statistics.h"

namespace rondo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kSize = 2048;

double elapsed_s(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

RoofSampler::RoofSampler()
    : a_(at::ones({kSize, kSize})), b_(at::ones({kSize, kSize})), c_(at::empty({kSize, kSize})) {
  sample();  // starts the threads and touches the pages
}

double RoofSampler::sample() {
  const NoGrad guard;
  const auto start = Clock::now();
  at::mm_out(c_, a_, b_);
  return 2.0 * kSize * kSize * kSize / elapsed_s(start) / 1e9;
}

double measure_roof_gflops(int repetitions) {
  RoofSampler sampler;
  std::vector<double> rates;
  for (int i = 0; i < repetitions; ++i) rates.push_back(sampler.sample());
  return median(rates);
}

double measure_bandwidth_gbs(int repetitions) {
  constexpr std::int64_t kBytes = std::int64_t{256} << 20;
  const NoGrad guard;
  const auto numbers = at::ones({kBytes / 4});
  auto total = at::sum(numbers);
  std::vector<double> rates;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = Clock::now();
    total = at::sum(numbers);
    rates.push_back(static_cast<double>(kBytes) / elapsed_s(start) / 1e9);
  }
  return median(rates);
}

double known_roof_gflops() {
  static const double roof = measure_roof_gflops();
  return roof;
}

}  // namespace rondo
