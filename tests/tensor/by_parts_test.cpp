// A sum by parts: value and gradients of the whole, whatever the parts.
#include "tensor/by_parts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tensor/torch.h"

namespace rondo {
namespace {

/// Depends on the row's place, on x in a curved way and on a weight.
Tensor sum_of_part(const Tensor& part, std::int64_t first, const std::vector<Tensor>& shared) {
  const auto place = at::arange(first, first + part.size(0), part.options()).unsqueeze(1) + 1;
  return (place * at::tanh(at::matmul(part, shared[0].t())).square()).sum() + 0 * shared[1].sum();
}

struct Given {
  Tensor x, weight, constant;
};

Given given() {
  at::manual_seed(3);
  return {at::randn({7, 5}, at::kDouble).requires_grad_(),
          at::randn({4, 5}, at::kDouble).requires_grad_(), at::randn({2}, at::kDouble)};
}

TEST(ByParts, ValueAndGradientsAreThoseOfTheWhole) {
  const auto [x, weight, constant] = given();
  const auto whole = 3 * sum_of_part(x, 0, {weight, constant});
  const auto expected = gradients({whole}, {x, weight});
  for (const std::int64_t rows : {1, 2, 3, 7, 100}) {
    const auto value = 3 * summed_by_parts(sum_of_part, x, {weight, constant}, rows);
    EXPECT_NEAR(value.item<double>(), whole.item<double>(), 1e-12);
    const auto found = gradients({value}, {x, weight});
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_LT((found[i] - expected[i]).abs().max().item<double>(), 1e-12) << rows;
  }
}

TEST(ByParts, PartsAreOfAboutEqualSizeAndInOrder) {
  const auto [x, weight, constant] = given();
  std::vector<std::pair<std::int64_t, std::int64_t>> seen;
  const PartSum record = [&](const Tensor& part, std::int64_t first,
                             const std::vector<Tensor>& all) {
    seen.emplace_back(first, part.size(0));
    return sum_of_part(part, first, all);
  };
  summed_by_parts(record, x, {weight, constant}, 3);
  EXPECT_EQ(seen, (std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 3}, {3, 3}, {6, 1}}));
}

TEST(ByParts, WithoutGradientsNothingIsKept) {
  const auto [x, weight, constant] = given();
  const NoGrad guard;
  const auto value = summed_by_parts(sum_of_part, x, {weight, constant}, 2);
  EXPECT_FALSE(value.requires_grad());
}

TEST(ByParts, OnlyWeightsLearn) {
  const auto [x, weight, constant] = given();
  const auto fixed = x.detach();
  const auto value = summed_by_parts(sum_of_part, fixed, {weight, constant}, 2);
  const auto expected = gradients({sum_of_part(fixed, 0, {weight, constant})}, {weight});
  const auto found = gradients({value}, {weight});
  EXPECT_LT((found[0] - expected[0]).abs().max().item<double>(), 1e-12);
}

}  // namespace
}  // namespace rondo
