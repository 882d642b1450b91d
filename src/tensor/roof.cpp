// Measuring the roof.
#include "tensor/roof.h"

#include <chrono>
#include <vector>

#include "base/statistics.h"
#include "tensor/tensor.h"

namespace rondo {

double measure_roof_gflops(int repetitions) {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t kSize = 2048;
  const NoGrad guard;
  const auto a = at::ones({kSize, kSize}), b = at::ones({kSize, kSize});
  auto c = at::empty({kSize, kSize});
  at::mm_out(c, a, b);  // starts the threads and touches the pages
  std::vector<double> rates;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = Clock::now();
    at::mm_out(c, a, b);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    rates.push_back(2.0 * kSize * kSize * kSize / seconds / 1e9);
  }
  return median(rates);
}

double known_roof_gflops() {
  static const double roof = measure_roof_gflops();
  return roof;
}

}  // namespace rondo
