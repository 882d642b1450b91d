// The fused operations in single precision against the composed ones in double: values and every
// gradient, at widths that no vector divides.
#include <gtest/gtest.h>

#include <functional>

#include "tensor/gemm.h"
#include "tensor/ops.h"
#include "tests/reference/compare.h"

namespace rondo {
namespace {

using reference::values;

// An operation of some tensors, in either form.
using Operation = std::function<Tensor(const std::vector<Tensor>&, Form)>;

double relative(const Tensor& found, const Tensor& expected) {
  return (found.to(at::kDouble) - expected).abs().max().item<double>() /
         (expected.abs().max().item<double>() + 1e-30);
}

void expect_equal_forms(const Operation& operation, const std::vector<Tensor>& inputs,
                        const std::string& what) {
  std::vector<Tensor> exact, single;
  for (const auto& input : inputs) {
    exact.push_back(input.detach().clone().requires_grad_(true));
    single.push_back(input.to(at::kFloat).detach().clone().requires_grad_(true));
  }
  const auto expected = operation(exact, Form::kComposed);
  const auto found = operation(single, Form::kFused);
  ASSERT_EQ(found.scalar_type(), at::kFloat);
  EXPECT_LE(relative(found, expected), 2e-6) << what;
  const auto probe = values(expected.sizes().vec(), 7.0);
  const auto expected_slopes = gradients({(expected * probe).sum()}, exact);
  const auto found_slopes = gradients({(found * probe.to(at::kFloat)).sum()}, single);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    EXPECT_LE(relative(found_slopes[i], expected_slopes[i]), 1e-5) << what << ", input " << i;
}

RotaryTable table_of(std::int64_t length, std::int64_t width) {
  const auto exponents = at::arange(width / 2, at::kDouble) * (-2.0 / static_cast<double>(width));
  const auto angles = at::outer(at::arange(length, at::kDouble), at::pow(10000.0, exponents));
  return {angles.cos(), angles.sin()};
}

class Fused : public ::testing::TestWithParam<Gemm> {
 protected:
  void SetUp() override { use_gemm(GetParam()); }
  void TearDown() override { use_gemm(Gemm::kLibtorch); }
};

TEST_P(Fused, EqualsComposed) {
  for (const std::int64_t width : {1, 7, 16, 83, 256}) {
    const auto name = std::to_string(width);
    expect_equal_forms([](const auto& in, Form form) { return rms_norm(in[0], in[1], 1e-5, form); },
                       {values({3, 11, width}), values({width}, 1.0)}, "norm " + name);
    expect_equal_forms(
        [](const auto& in, Form form) { return lean(in[0], in[1], {in[2]}, {in[3]}, form); },
        {values({3, 11, width}), values({3, 11, width}, 1.0), values({3, 11, width}, 2.0),
         values({width}, 3.0)},
        "one lag " + name);
    expect_equal_forms(
        [](const auto& in, Form form) {
          return lean(in[0], in[1], {in[2], in[3], in[4]}, {in[5], in[6], in[7]}, form);
        },
        {values({3, 11, width}), values({3, 11, width}, 1.0), values({3, 11, width}, 2.0),
         values({3, 11, width}, 3.0), values({3, 11, width}, 4.0), values({width}, 5.0),
         values({width}, 6.0), values({width}, 7.0)},
        "three lags " + name);
    // A loop gate: the same tensor in two places.
    expect_equal_forms(
        [](const auto& in, Form form) { return lean(in[0], in[1], {in[0]}, {in[2]}, form); },
        {values({3, 11, width}), values({3, 11, width}, 1.0), values({width}, 2.0)},
        "lean to itself " + name);
    expect_equal_forms(
        [](const auto& in, Form form) { return gated_add(in[0], in[1], in[2], form); },
        {values({3, 11, width}), values({3, 11, width}, 1.0), values({width}, 2.0)},
        "gated sum " + name);
    expect_equal_forms([](const auto& in, Form form) { return rms_norm(in[0], {}, 1e-5, form); },
                       {values({3, 11, width})}, "norm without gains " + name);
    expect_equal_forms([](const auto& in, Form form) { return swiglu(in[0], form); },
                       {values({3, 11, 2 * width}) * 4.0}, "swiglu " + name);
    expect_equal_forms([](const auto& in, Form) { return project(in[0], in[1]); },
                       {values({3, 11, width}), values({5, width}, 1.0)}, "project " + name);
  }
}

TEST_P(Fused, HeadsAndAttentionEqualComposed) {
  // One block of queries, part of one, several and a part; heads that share keys; odd widths.
  for (const std::int64_t length : {1, 5, 64, 150}) {
    for (const auto& [heads, groups, width] :
         std::vector<std::array<std::int64_t, 3>>{{4, 4, 16}, {4, 1, 6}, {6, 2, 10}}) {
      const auto table = table_of(length, width);
      const auto qkv = values({2, length, (heads + 2 * groups) * width}) * 2.0;
      JointHeads how{.heads = heads, .groups = groups, .rotary = table, .eps = 1e-5};
      const auto attend = [&](const std::vector<Tensor>& in, Form form) {
        const auto gains = [&](std::size_t i) { return i < in.size() ? in[i] : Tensor(); };
        return joint_attention(in[0], gains(1), gains(2), how, {}, form);
      };
      const auto name = "attention of " + std::to_string(length);
      expect_equal_forms(attend, {qkv}, name);
      how.norm = true;
      for (const bool first : {false, true}) {
        how.norm_first = first;
        expect_equal_forms(attend, {qkv}, name + ", normed");
        // One position sees only itself, and its gains have no slopes.
        if (length == 1) continue;
        expect_equal_forms(attend, {qkv, values({width}, 1.0), values({width}, 2.0)},
                           name + ", with gains");
      }
    }
  }
}

TEST_P(Fused, NonContiguousInputs) {
  const auto x = values({2, 12, 40});
  expect_equal_forms(
      [](const auto& in, Form form) {
        return rms_norm(in[0].transpose(0, 1).narrow(2, 3, 20), in[1], 1e-5, form);
      },
      {x, values({20}, 1.0)}, "norm of a view");
  expect_equal_forms([](const auto& in, Form form) { return swiglu(in[0].transpose(0, 1), form); },
                     {x}, "swiglu of a view");
  expect_equal_forms([](const auto& in, Form) { return project(in[0].transpose(0, 1), in[1]); },
                     {x, values({8, 40}, 1.0)}, "project of a view");
  expect_equal_forms([](const auto& in, Form) { return project(in[0], in[1].narrow(1, 40, 40)); },
                     {x, values({8, 80}, 1.0)}, "project by half a matrix");
}

TEST_P(Fused, ProductsWithTheirNeighboursEqualComposed) {
  for (const std::int64_t width : {8, 21, 64}) {
    expect_equal_forms(
        [](const auto& in, Form form) { return norm_project(in[0], in[1], 1e-5, in[2], form); },
        {values({2, 9, width}), values({width}, 1.0), values({13, width}, 2.0)}, "norm, product");
    expect_equal_forms([](const auto& in, Form form) { return swiglu_project(in[0], in[1], form); },
                       {values({2, 9, 2 * width}) * 2.0, values({13, width}, 2.0)},
                       "swiglu, product");
  }
}

// More rows than are worked on at once on the way back.
TEST_P(Fused, ManyRowsEqualComposed) {
  constexpr std::int64_t kRows = 2053;
  expect_equal_forms(
      [](const auto& in, Form form) { return norm_project(in[0], in[1], 1e-5, in[2], form); },
      {values({kRows, 24}), values({24}, 1.0), values({7, 24}, 2.0)}, "norm, product");
  expect_equal_forms([](const auto& in, Form form) { return swiglu_project(in[0], in[1], form); },
                     {values({kRows, 2 * 24}) * 2.0, values({7, 24}, 2.0)}, "swiglu, product");
}

// The gradient may take the place of what is read no more, and of nothing else.
TEST_P(Fused, WhatIsStillReadIsNotOverwritten) {
  const auto base = values({9, 2 * 24}).to(at::kFloat).requires_grad_(true);
  const auto weight = values({7, 24}, 2.0).to(at::kFloat);
  const auto slope_of = [&](bool kept) {
    auto gate_up = 2 * base;
    const auto before = gate_up.detach().clone();
    const auto out = swiglu_project(gate_up, weight, Form::kFused).square().sum();
    if (!kept) gate_up.reset();
    const auto slope = gradients({out}, {base})[0];
    if (kept) {
      EXPECT_TRUE(at::equal(gate_up.detach(), before));
    }
    return slope;
  };
  EXPECT_TRUE(at::equal(slope_of(true), slope_of(false)));
  // A view of it counts as a reader too.
  const auto gate_up = 2 * base;
  const auto view = gate_up.detach().view({-1});
  const auto before = view.clone();
  gradients({swiglu_project(gate_up.view({9, 48}), weight, Form::kFused).sum()}, {base});
  EXPECT_TRUE(at::equal(view, before));
}

// Gradients take the place of the joint product where nobody reads it, also where heads share keys.
TEST_P(Fused, AttentionOverwritesOnlyWhatIsReadNoMore) {
  const auto base = values({2, 9, 4 * 8}).to(at::kFloat).requires_grad_(true);
  const JointHeads how{
      .heads = 2, .groups = 1, .rotary = table_of(9, 8), .norm = true, .eps = 1e-5};
  const auto slope_of = [&](bool kept) {
    auto qkv = 2 * base;
    const auto before = qkv.detach().clone();
    const auto out = joint_attention(qkv, {}, {}, how, {}, Form::kFused).square().sum();
    if (!kept) qkv.reset();
    const auto slope = gradients({out}, {base})[0];
    if (kept) {
      EXPECT_TRUE(at::equal(qkv.detach(), before));
    }
    return slope;
  };
  EXPECT_TRUE(at::equal(slope_of(true), slope_of(false)));
}

TEST_P(Fused, HeadLossEqualsComposed) {
  for (const std::int64_t rows : {1, 40, 3000}) {
    auto targets = at::arange(rows, at::kLong).remainder(17);
    if (rows > 1) targets[rows / 2] = -1;
    for (const auto& [scale, softcap] :
         std::vector<std::pair<double, double>>{{1, 0}, {2, 15}, {0.5, 3}})
      expect_equal_forms(
          [&, s = scale, c = softcap](const auto& in, Form form) {
            return head_loss(in[0], in[1], targets, s, c, form);
          },
          {values({rows, 24}), values({1001, 24}, 2.0) * 0.3},
          "head of " + std::to_string(rows) + ", cap " + std::to_string(softcap));
  }
}

// What lies ahead must not reach back.
TEST_P(Fused, LaterTokensChangeNothingEarlier) {
  const auto qkv = values({1, 130, 6 * 16}).to(at::kFloat);
  const JointHeads how{.heads = 2, .groups = 2, .rotary = table_of(130, 16)};
  const auto attend = [&] { return joint_attention(qkv, {}, {}, how, {}, Form::kFused); };
  const auto before = attend();
  const auto later = qkv.narrow(1, 100, 30);
  later.narrow(2, 0, 32).fill_(3);
  later.narrow(2, 32, 32).fill_(9);
  later.narrow(2, 64, 32).fill_(-9);
  const auto after = attend();
  EXPECT_TRUE(before.narrow(1, 0, 100).equal(after.narrow(1, 0, 100)));
}

TEST_P(Fused, LargeScoresStayFinite) {
  const auto qkv = at::cat({at::full({1, 70, 8}, 300.0f), values({1, 70, 8}).to(at::kFloat) * 300.0,
                            at::ones({1, 70, 8})},
                           -1);
  const JointHeads how{.heads = 1, .groups = 1, .rotary = table_of(70, 8)};
  const auto out = joint_attention(qkv, {}, {}, how, {}, Form::kFused);
  EXPECT_LE((out - 1).abs().max().item<float>(), 1e-5f);
  const auto activated =
      swiglu(at::tensor({-1e30f, 1e30f, -200.0f, 1.0f, 1.0f, 1.0f}), Form::kFused);
  EXPECT_TRUE(at::isfinite(activated).all().item<bool>());
  EXPECT_NEAR(activated[2].item<float>(), 0, 1e-30);
  EXPECT_TRUE(at::isnan(swiglu(at::tensor({NAN, 1.0f}), Form::kFused)).item<bool>());
}

INSTANTIATE_TEST_SUITE_P(Libraries, Fused, ::testing::Values(Gemm::kLibtorch, Gemm::kOneDnn),
                         [](const auto& test) {
                           return test.param == Gemm::kOneDnn ? "OneDnn" : "Libtorch";
                         });

}  // namespace
}  // namespace rondo
