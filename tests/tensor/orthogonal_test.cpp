// Orthogonalised matrices: the golden ones, both forms, what becomes of singular values and zeros.
#include "tensor/orthogonal.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tensor/gemm.h"
#include "tensor/safetensors.h"
#include "tests/reference/compare.h"

namespace rondo {
namespace {

using reference::distance;

Tensor normal(std::int64_t rows, std::int64_t columns, std::uint64_t seed = 1) {
  auto generator = at::detail::createCPUGenerator(seed);
  return at::randn({rows, columns}, generator);
}

Tensor orthogonal(const Tensor& matrix, Form form, int steps = kNewtonSchulzSteps) {
  std::vector<Tensor> list = {matrix.clone()};
  orthogonalise(list, steps, form);
  return list.front();
}

// Wide, tall and square ones, below, at and above the blocks of symmetric products, and on both
// sides of where polynomials take the place of steps.
const std::vector<std::pair<std::int64_t, std::int64_t>> kShapes = {
    {1, 7}, {9, 4}, {64, 64}, {64, 71}, {64, 73}, {128, 341}, {341, 128}, {130, 130}, {300, 257}};

TEST(Orthogonal, FollowsTheSingularValuesOfTheReference) {
  const auto file = read_safetensors("tests/golden/muon.safetensors");
  int matrices = 0;
  for (const auto& [name, tensor] : file.tensors) {
    if (!name.starts_with("orthogonalised.")) continue;
    ++matrices;
    const auto start =
        file.tensors.at("gradient." + name.substr(std::string("orthogonalised.").size()))[0];
    for (const Form form : {Form::kFused, Form::kComposed})
      EXPECT_LE(distance(orthogonal(start, form), tensor), 1e-4) << name;
    EXPECT_LE(distance(orthogonal(start.to(at::kDouble), Form::kComposed), tensor), 1e-6) << name;
  }
  EXPECT_EQ(matrices, 7);
}

TEST(Orthogonal, FormsAgree) {
  for (const Gemm gemm : {Gemm::kOneDnn, Gemm::kLibtorch}) {
    use_gemm(gemm);
    for (const auto& [rows, columns] : kShapes)
      for (const int steps : {1, 2, 5}) {
        const auto matrix = normal(rows, columns);
        const auto exact = orthogonal(matrix.to(at::kDouble), Form::kComposed, steps);
        EXPECT_LE(distance(orthogonal(matrix, Form::kFused, steps), exact), 3e-4)
            << rows << " x " << columns << ", " << steps << " steps";
      }
  }
  use_gemm(Gemm::kLibtorch);
}

TEST(Orthogonal, SingularValuesComeNearOneAndVectorsStay) {
  for (const auto& [rows, columns] : kShapes) {
    SCOPED_TRACE(fmt::format("{} x {}", rows, columns));
    // Singular values of about a hundredth of the norm and more.
    const auto [u, s, vt] = at::linalg_svd(normal(rows, columns).to(at::kDouble), false);
    const auto count = s.size(0);
    const auto planted = at::linspace(1.0, 0.3, count, at::kDouble);
    const auto matrix = at::matmul(u * planted, vt);
    const auto found = orthogonal(matrix.to(at::kFloat), Form::kFused).to(at::kDouble);
    const auto inside = at::matmul(at::matmul(u.mT(), found), vt.mT());
    const auto values = inside.diagonal();
    EXPECT_GT(values.min().item<double>(), 0.67);
    EXPECT_LT(values.max().item<double>(), 1.21);
    EXPECT_LT((inside - at::diag(values)).abs().max().item<double>(), 1e-4);
  }
}

TEST(Orthogonal, SmallOnesSurvivePolynomialsInSinglePrecision) {
  // Half of the directions have singular values far below what X Xt resolves in single precision.
  const auto [u, s, vt] = at::linalg_svd(normal(96, 256).to(at::kDouble), false);
  const auto planted = at::cat({at::ones({48}, at::kDouble), at::full({48}, 1e-5, at::kDouble)});
  const auto matrix = at::matmul(u * planted, vt);
  const auto exact = orthogonal(matrix, Form::kComposed);
  EXPECT_LE(distance(orthogonal(matrix.to(at::kFloat), Form::kFused), exact), 1e-3);
}

TEST(Orthogonal, ZerosAndOneOfManyThreads) {
  std::vector<Tensor> list;
  for (std::uint64_t i = 0; i < 9; ++i) list.push_back(normal(20, 48, i));
  list.push_back(at::zeros({20, 48}));
  const auto alone = orthogonal(list[3], Form::kFused);
  orthogonalise(list, kNewtonSchulzSteps, Form::kFused);
  EXPECT_TRUE(list[3].equal(alone));
  EXPECT_EQ(list.back().abs().max().item<float>(), 0.0F);
}

TEST(Orthogonal, DoesNotDependOnTheSizeOfTheMatrix) {
  const auto matrix = normal(24, 40);
  EXPECT_LE(distance(orthogonal(matrix * 1e-4, Form::kFused), orthogonal(matrix, Form::kFused)),
            1e-5);
}

}  // namespace
}  // namespace rondo
