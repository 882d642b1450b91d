// Products whose factors are bf16: against rounded factors in double precision, in emulation on
// every machine, and by the processor's units where it has them.
#include <gtest/gtest.h>

#include <cmath>

#include "base/machine.h"
#include "tensor/fused_rows.h"
#include "tensor/gemm.h"
#include "tensor/ops.h"
#include "tests/reference/compare.h"

namespace rondo {
namespace {

using reference::values;

Tensor rounded(const Tensor& x) { return x.to(at::kFloat).to(at::kBFloat16).to(at::kDouble); }

double relative(const Tensor& found, const Tensor& expected) {
  return (found.to(at::kDouble) - expected).abs().max().item<double>() /
         expected.abs().max().item<double>();
}

double relative_norm(const Tensor& found, const Tensor& expected) {
  return (found.to(at::kDouble) - expected).norm().item<double>() / expected.norm().item<double>();
}

std::vector<Factors> kinds() {
  std::vector<Factors> list = {Factors::kBf16Emulated};
  if (cpu_features().bf16()) list.push_back(Factors::kBf16);
  return list;
}

TEST(Bf16, ProductsRoundTheirFactorsAndNothingElse) {
  for (const auto factors : kinds()) {
    const FactorScope scope(factors);
    for (const auto& [m, k, n] : std::vector<std::array<std::int64_t, 3>>{
             {1, 1, 1}, {3, 5, 7}, {64, 32, 48}, {130, 257, 33}}) {
      const auto a = values({m, k}), b = values({n, k}, 1.0);
      const auto expected = rounded(a).matmul(rounded(b).t());
      auto out = at::zeros({m, n});
      multiply(a.to(at::kFloat), b.to(at::kFloat).t(), out);
      EXPECT_LE(relative(out, expected), 2e-6);
      multiply(as_factor(a.to(at::kFloat)), as_factor(b.to(at::kFloat)).t(), out, true);
      EXPECT_LE(relative(out, 2 * expected), 2e-6);
    }
  }
}

TEST(Bf16, AScopeEnds) {
  const auto x = at::ones({2, 2});
  EXPECT_EQ(as_factor(x).scalar_type(), at::kFloat);
  {
    const FactorScope scope(Factors::kBf16Emulated);
    EXPECT_EQ(as_factor(x).scalar_type(), at::kBFloat16);
    EXPECT_EQ(as_factor(x.to(at::kDouble)).scalar_type(), at::kDouble);
  }
  EXPECT_FALSE(factors_are_bf16());
}

// The loops round as the library does: to the nearest, ties to even, NaN and infinity kept.
TEST(Bf16, RowsAreRoundedLikeTheLibrary) {
  const auto same = [](const Tensor& found, const Tensor& expected) {
    return found.equal(expected.to(at::kBFloat16));
  };
  const auto x = values({9, 83}).to(at::kFloat), gains = values({83}, 1.0).to(at::kFloat);
  EXPECT_TRUE(same(fused::norm_rows(x, gains, 1e-5, at::kBFloat16).out,
                   fused::norm_rows(x, gains, 1e-5).out));
  const auto gate_up = values({9, 2 * 83}).to(at::kFloat) * 4.0;
  EXPECT_TRUE(same(fused::swiglu_rows(gate_up, at::kBFloat16), fused::swiglu_rows(gate_up)));
  // A single number normed is its sign; gains choose what is rounded.
  const auto edge = at::tensor({1.00390625f, 1.01171875f, -1.00390625f, 3e38f, 1e-40f});
  const auto ones = at::ones({1, 5});
  EXPECT_TRUE(same(fused::norm_rows(ones, edge, 0.0, at::kBFloat16).out,
                   fused::norm_rows(ones, edge, 0.0).out));
  const auto odd =
      fused::norm_rows(at::ones({1, 2}), at::tensor({NAN, INFINITY}), 0, at::kBFloat16);
  EXPECT_TRUE(at::isnan(odd.out).narrow(1, 0, 1).item<bool>());
  EXPECT_TRUE(at::isinf(odd.out).narrow(1, 1, 1).item<bool>());
}

// Both forms round the same factors; a sum in another order may push one over an edge.
TEST(Bf16, FusedEqualsComposedAndIsNearTheExact) {
  const auto x = values({2, 9, 48}), gains = values({48}, 1.0), up = values({64, 48}, 2.0),
             down = values({48, 32}, 3.0);
  const auto run = [&](at::ScalarType type, Form form) {
    std::vector<Tensor> in;
    for (const auto& one : {x, gains, up, down})
      in.push_back(one.to(type).detach().requires_grad_(true));
    const auto out = swiglu_project(norm_project(in[0], in[1], 1e-5, prepared(in[2]), form),
                                    prepared(in[3]), form);
    const auto probe = values(out.sizes().vec(), 7.0).to(type);
    auto all = gradients({(out * probe).sum()}, in);
    all.push_back(out.detach());
    return all;
  };
  const auto exact = run(at::kDouble, Form::kComposed);
  for (const auto factors : kinds()) {
    const FactorScope scope(factors);
    const auto composed = run(at::kFloat, Form::kComposed), fused = run(at::kFloat, Form::kFused);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_EQ(fused[i].scalar_type(), at::kFloat);
      EXPECT_LE(relative(fused[i], composed[i].to(at::kDouble)), 2e-3) << i;
      // The gradient of the gains is a sum over rows that nearly cancels here.
      EXPECT_LE(relative_norm(fused[i], exact[i]), i == 1 ? 0.2 : 5e-2) << i;
      EXPECT_GE(relative_norm(fused[i], exact[i]), 1e-5) << i << ": nothing was rounded";
    }
  }
}

TEST(Bf16, HeadLoss) {
  const auto h = values({40, 24}), head = values({101, 24}, 2.0);
  const auto targets = at::arange(40, at::kLong);
  const auto run = [&](at::ScalarType type, Form form) {
    const auto a = h.to(type).requires_grad_(true), b = head.to(type).requires_grad_(true);
    const auto loss = head_loss(a, b, targets, 1.0, 0.0, form);
    auto all = gradients({loss}, {a, b});
    all.push_back(loss.detach());
    return all;
  };
  const auto exact = run(at::kDouble, Form::kComposed);
  for (const auto factors : kinds()) {
    const FactorScope scope(factors);
    const auto fused = run(at::kFloat, Form::kFused);
    for (std::size_t i = 0; i < exact.size(); ++i)
      EXPECT_LE(relative(fused[i], exact[i]), 2e-2) << i;
  }
}

}  // namespace
}  // namespace rondo
