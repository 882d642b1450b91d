// Products of both libraries against double precision: layouts, accumulation, one thread.
#include "tensor/gemm.h"

#include <gtest/gtest.h>

#include "tests/reference/compare.h"

namespace rondo {
namespace {

using reference::values;

double error_of(const Tensor& found, const Tensor& expected) {
  return (found.to(at::kDouble) - expected).abs().max().item<double>() /
         expected.abs().max().item<double>();
}

TEST(Gemm, EveryLayoutAndAccumulation) {
  for (const Gemm gemm : {Gemm::kLibtorch, Gemm::kOneDnn}) {
    use_gemm(gemm);
    for (const auto& [m, k, n] : std::vector<std::array<std::int64_t, 3>>{
             {1, 1, 1}, {3, 5, 7}, {64, 32, 48}, {130, 257, 33}}) {
      const auto a = values({m, k}), b = values({k, n}, 1.0);
      const auto expected = a.matmul(b);
      for (const bool turn_a : {false, true}) {
        for (const bool turn_b : {false, true}) {
          const auto left = turn_a ? a.t().to(at::kFloat).contiguous().t() : a.to(at::kFloat);
          const auto right = turn_b ? b.t().to(at::kFloat).contiguous().t() : b.to(at::kFloat);
          auto out = at::zeros({m, n});
          multiply(left, right, out);
          EXPECT_LE(error_of(out, expected), 1e-5);
          multiply(left, right, out, true);
          EXPECT_LE(error_of(out, 2 * expected), 1e-5);
        }
      }
    }
  }
  use_gemm(Gemm::kLibtorch);
}

TEST(Gemm, PartsOfLargerMatrices) {
  use_gemm(Gemm::kOneDnn);
  const auto a = values({20, 30}), b = values({40, 30}, 1.0);
  auto out = at::zeros({20, 50});
  auto part = out.narrow(1, 5, 24);
  multiply(a.to(at::kFloat).narrow(1, 3, 16),
           b.to(at::kFloat).narrow(0, 8, 24).narrow(1, 3, 16).t(), part);
  const auto expected = a.narrow(1, 3, 16).matmul(b.narrow(0, 8, 24).narrow(1, 3, 16).t());
  EXPECT_LE(error_of(out.narrow(1, 5, 24), expected), 1e-5);
  EXPECT_EQ(out.narrow(1, 0, 5).abs().sum().item<float>(), 0);
  EXPECT_EQ(out.narrow(1, 29, 21).abs().sum().item<float>(), 0);
  use_gemm(Gemm::kLibtorch);
}

TEST(Gemm, OtherPrecisionsAreLibtorchs) {
  use_gemm(Gemm::kOneDnn);
  const auto a = values({4, 6}), b = values({6, 5}, 1.0);
  auto out = at::empty({4, 5}, at::kDouble);
  multiply(a, b, out);
  EXPECT_TRUE(out.equal(a.matmul(b)));
  use_gemm(Gemm::kLibtorch);
}

TEST(Gemm, TheChoiceIsOneOfTheTwoAndRepeats) {
  const ProductShape shapes[] = {{256, 64, 192}, {256, 192, 64}};
  const auto first = quickest_gemm(shapes);
  int same = 0;
  for (int i = 0; i < 3; ++i) same += quickest_gemm(shapes) == first ? 1 : 0;
  EXPECT_GE(same, 2);
}

}  // namespace
}  // namespace rondo
