// Operations against plain loops, their two forms against each other, gradients against finite
// differences.
#include "tensor/ops.h"

#include <gtest/gtest.h>

#include "tests/reference/compare.h"

namespace rondo {
namespace {

using reference::check_gradient;
using reference::distance;
using reference::to_values;
using reference::values;

RotaryTable table_of(std::int64_t length, std::int64_t width) {
  const auto exponents = at::arange(width / 2, at::kDouble) * (-2.0 / static_cast<double>(width));
  const auto angles = at::outer(at::arange(length, at::kDouble), at::pow(10000.0, exponents));
  return {angles.cos(), angles.sin()};
}

TEST(RmsNorm, EqualsPlainLoops) {
  const auto x = values({5, 12}), weight = values({12}, 1.0);
  for (const Form form : {Form::kFused, Form::kComposed}) {
    EXPECT_LE(distance(to_values(rms_norm(x, weight, 1e-3, form)),
                       reference::rms_norm(to_values(x), to_values(weight), 1e-3, 12)),
              1e-14);
    EXPECT_LE(distance(to_values(rms_norm(x, {}, 1e-3, form)),
                       reference::rms_norm(to_values(x), {}, 1e-3, 12)),
              1e-14);
  }
}

TEST(RmsNorm, SurvivesARowOfZeros) {
  const auto y = rms_norm(at::zeros({2, 8}), at::ones({8}), 1e-5, Form::kFused);
  EXPECT_TRUE(y.eq(0).all().item<bool>());
}

TEST(Rotate, EqualsPlainLoops) {
  const auto x = values({1, 7, 3, 8});
  EXPECT_LE(distance(to_values(rotate(x, table_of(7, 8), Form::kComposed)),
                     reference::rotate(to_values(x), 3, 8, 10000.0)),
            1e-14);
}

TEST(Rotate, KeepsLengthsAndDependsOnDistanceOnly) {
  const auto table = table_of(9, 8);
  const auto q = values({1, 1, 1, 8}).expand({1, 9, 1, 8}),
             k = values({1, 1, 1, 8}, 3.0).expand({1, 9, 1, 8});
  const auto rq = rotate(q, table, Form::kComposed).view({9, 8}),
             rk = rotate(k, table, Form::kComposed).view({9, 8});
  EXPECT_LE(distance(rq.norm(2, {1}), q.reshape({9, 8}).norm(2, {1})), 1e-14);
  const auto score = [&](std::int64_t i, std::int64_t j) {
    return rq[i].dot(rk[j]).item<double>();
  };
  EXPECT_NEAR(score(3, 1), score(8, 6), 1e-12);
}

TEST(Attention, EqualsPlainLoopsWithSharedHeads) {
  const auto q = values({1, 6, 4, 5}), k = values({1, 6, 2, 5}, 1.0), v = values({1, 6, 2, 5}, 2.0);
  const auto expected = reference::attention(to_values(q), to_values(k), to_values(v), 6, 4, 2, 5);
  for (const Form form : {Form::kFused, Form::kComposed})
    EXPECT_LE(distance(to_values(causal_attention(q, k, v, {}, form)), expected), 1e-13);
}

TEST(Attention, DocumentMaskSplitsTheSequence) {
  const auto q = values({1, 6, 2, 4}), k = values({1, 6, 2, 4}, 1.0), v = values({1, 6, 2, 4}, 2.0);
  const auto documents = at::tensor({0, 0, 0, 1, 1, 1}, at::kLong).unsqueeze(0);
  const auto allowed = documents.unsqueeze(2) == documents.unsqueeze(1);
  for (const Form form : {Form::kFused, Form::kComposed}) {
    const auto whole = causal_attention(q, k, v, allowed, form);
    for (const std::int64_t start : {0, 3}) {
      const auto part = causal_attention(q.narrow(1, start, 3), k.narrow(1, start, 3),
                                         v.narrow(1, start, 3), {}, form);
      EXPECT_LE(distance(whole.narrow(1, start, 3), part), 1e-13);
    }
  }
}

TEST(CrossEntropy, EqualsPlainLoops) {
  const auto logits = values({4, 9});
  const auto targets = at::tensor({3, 0, 8, 5}, at::kLong);
  const auto losses = to_values(cross_entropy(logits, targets));
  for (std::size_t i = 0; i < 4; ++i) {
    const auto row = to_values(logits[static_cast<std::int64_t>(i)]);
    const auto target =
        static_cast<std::size_t>(targets[static_cast<std::int64_t>(i)].item<std::int64_t>());
    EXPECT_NEAR(losses[i], reference::cross_entropy(row, target), 1e-13);
  }
}

TEST(CrossEntropy, LeavesOutRowsWithoutTarget) {
  const auto losses = cross_entropy(values({2, 5}), at::tensor({-1, 2}, at::kLong));
  EXPECT_EQ(losses[0].item<double>(), 0.0);
  EXPECT_GT(losses[1].item<double>(), 0.0);
}

TEST(ShapeLogits, ScalesBeforeItCaps) {
  const auto z = values({3, 4}) * 5.0;
  EXPECT_LE(distance(shape_logits(z, 2.0, 3.0), (z * 2.0 / 3.0).tanh() * 3.0), 1e-14);
  EXPECT_TRUE(shape_logits(z, 1.0, 0.0).equal(z));
}

TEST(Gradients, AgreeWithFiniteDifferences) {
  auto x = values({2, 5, 12}).requires_grad_(true);
  auto weight = values({12}, 1.0).requires_grad_(true);
  const auto probe = values({2, 5, 12}, 4.0);
  for (const Form form : {Form::kFused, Form::kComposed}) {
    const auto norm = [&] { return (rms_norm(x, weight, 1e-3, form) * probe).sum(); };
    check_gradient(norm, x);
    check_gradient(norm, weight);
    auto q = values({1, 5, 2, 6}).requires_grad_(true),
         v = values({1, 5, 1, 6}, 2.0).requires_grad_(true);
    const auto attend = [&] {
      return (causal_attention(rotate(q, table_of(5, 6), form), v.sin(), v, {}, form) *
              values({1, 5, 12}, 4.0))
          .sum();
    };
    check_gradient(attend, q);
    check_gradient(attend, v);
  }
  check_gradient([&] { return (swiglu(x, Form::kComposed) * values({2, 5, 6}, 3.0)).sum(); }, x);
  check_gradient([&] { return (shape_logits(x, 1.5, 2.0) * probe).sum(); }, x);
}

TEST(Recomputed, RunsTwiceAndGivesTheSameGradients) {
  auto x = values({3, 4}).requires_grad_(true);
  auto w = values({4, 4}, 1.0).requires_grad_(true);
  const auto constant = values({3, 4}, 2.0);
  int calls = 0;
  const TensorFunction function = [&](const std::vector<Tensor>& in) {
    ++calls;
    return (in[0].matmul(in[1]) + in[2]).tanh();
  };
  const auto plain = gradients({function({x, w, constant}).square().sum()}, {x, w});
  calls = 0;
  const auto output = recomputed(function, {x, w, constant});
  EXPECT_EQ(calls, 1);
  const auto again = gradients({output.square().sum()}, {x, w});
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(again[0].equal(plain[0]));
  EXPECT_TRUE(again[1].equal(plain[1]));
}

TEST(ExpectShape, NamesWhatItGot) {
  try {
    expect_shape(at::zeros({2, 3}), {2, -1, 4}, "logits");
    FAIL();
  } catch (const std::logic_error& error) {
    EXPECT_STREQ(error.what(), "logits: shape is [ 2 3 ], expected [ 2 -1 4 ]");
  }
}

}  // namespace
}  // namespace rondo
