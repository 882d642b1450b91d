// Every instruction set that this processor has gives what the baseline gives.
#include "tensor/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/machine.h"
#include "base/rng.h"

namespace rondo {
namespace {

std::vector<const Kernels*> available() {
  std::vector<const Kernels*> sets = {&baseline_kernels()};
  if (cpu_features().avx2) sets.push_back(&avx2_kernels());
  if (cpu_features().avx512) sets.push_back(&avx512_kernels());
  return sets;
}

std::vector<float> normals(std::size_t count, std::uint64_t index) {
  std::vector<float> numbers(count);
  RandomStream(1, "kernels", index).fill_normal(numbers);
  return numbers;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0, size = 1e-30;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max<double>(most, std::abs(a[i] - b[i]));
    size = std::max<double>(size, std::abs(b[i]));
  }
  return most / size;
}

TEST(Kernels, TheBestSetIsOneOfThem) { EXPECT_EQ(&kernels(), available().back()); }

TEST(Kernels, AllSetsAgree) {
  for (const std::int64_t width : {5, 8, 19, 64, 171}) {
    const auto count = static_cast<std::size_t>(3 * width);
    const auto wide = normals(2 * count, 0), slope = normals(count, 1), x = normals(count, 2),
               gains = normals(static_cast<std::size_t>(width), 3);
    std::vector<std::vector<float>> expected;
    for (const auto* set : available()) {
      std::vector<std::vector<float>> found(8);
      found[0].resize(count);
      set->swiglu(wide.data(), found[0].data(), 3, width);
      found[1].resize(2 * count);
      set->swiglu_backward(wide.data(), slope.data(), found[1].data(), 3, width);
      found[2].resize(count), found[3].resize(3);
      set->rms_norm(x.data(), gains.data(), 1e-5f, found[2].data(), found[3].data(), 3, width);
      found[4].resize(count), found[5].resize(static_cast<std::size_t>(width));
      set->rms_norm_backward(x.data(), gains.data(), found[3].data(), slope.data(), nullptr,
                             found[4].data(), found[5].data(), 3, width);
      found[6] = x;
      const auto row = set->softmax(found[6].data(), 0.7f, width, width);
      found[7] = x;
      set->probabilities(found[7].data(), 0.7f, row, width, width);
      EXPECT_EQ(found[6], found[7]) << set->name;
      if (expected.empty()) expected = found;
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_LE(distance(found[i], expected[i]), 2e-6) << set->name << ' ' << i << ' ' << width;
    }
  }
}

TEST(Kernels, SoftmaxSumsToOneAndHidesWhatIsAhead) {
  for (const auto* set : available()) {
    auto scores = normals(37, 4);
    scores[30] = 1e30f;
    const auto row = set->softmax(scores.data(), 1.0f, 20, 37);
    double sum = 0, exact = 0;
    const auto original = normals(37, 4);
    for (std::size_t i = 0; i < 37; ++i) sum += scores[i];
    for (std::size_t i = 0; i < 20; ++i) exact += std::exp(static_cast<double>(original[i]));
    EXPECT_NEAR(sum, 1, 1e-6) << set->name;
    EXPECT_NEAR(row.largest - std::log(row.share), std::log(exact), 1e-5) << set->name;
    for (std::size_t i = 20; i < 37; ++i) EXPECT_EQ(scores[i], 0) << set->name;
  }
}

TEST(Kernels, TheSigmoidIsExactToAFewUnits) {
  for (const auto* set : available()) {
    for (float gate = -90; gate <= 90; gate += 0.37f) {
      const float row[] = {gate, 1.0f};
      float out = 0;
      set->swiglu(row, &out, 1, 1);
      const double exact = gate / (1.0 + std::exp(-static_cast<double>(gate)));
      EXPECT_NEAR(out, exact, 4e-7 * std::abs(exact) + 1e-36) << set->name << ' ' << gate;
    }
  }
}

}  // namespace
}  // namespace rondo
