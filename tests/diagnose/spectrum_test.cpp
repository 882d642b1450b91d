// Largest eigenvalues of known maps, and single positions as maps of their own.
#include "diagnose/spectrum.h"

#include <gtest/gtest.h>

#include <cmath>

#include "diagnose/own_position.h"
#include "tests/model/support.h"

namespace rondo {
namespace {

using testing_models::tiny_config;
using testing_models::tiny_input;
using testing_models::tiny_model;

/// A matrix with these blocks on its diagonal, seen from a basis that is not orthogonal.
Tensor with_spectrum(const std::vector<Tensor>& blocks) {
  const auto diagonal = at::block_diag(blocks);
  const auto size = diagonal.size(0);
  const auto basis = at::eye(size, at::kDouble) + 0.3 * reference::values({size, size}, 0.2);
  return at::matmul(at::matmul(basis, diagonal), at::linalg_inv(basis));
}

Tensor number(double value) { return at::full({1, 1}, value, at::kDouble); }
Tensor turn(double size, double angle) {
  const double c = size * std::cos(angle), s = size * std::sin(angle);
  return at::tensor({c, -s, s, c}, at::kDouble).view({2, 2});
}

Radius of_matrix(const Tensor& matrix, const SpectrumLimits& limits) {
  const auto map = [&](const Tensor& x) { return at::matmul(x, matrix.t()); };
  return spectral_radii(map, at::zeros({1, matrix.size(0)}, at::kDouble), limits)[0];
}

TEST(Spectrum, FindsPairsThatPowersAloneWouldNotSettleOn) {
  std::vector<Tensor> blocks = {turn(1.3, 0.9)};
  for (int i = 0; i < 60; ++i) blocks.push_back(number(-1.0 + i / 31.0));
  const auto radius = of_matrix(with_spectrum(blocks), {});
  EXPECT_NEAR(radius.value, 1.3, 1e-6);
  EXPECT_TRUE(radius.converged);
  EXPECT_LT(radius.iterations, 62);
}

TEST(Spectrum, SaysWhenItHasNotSettled) {
  std::vector<Tensor> blocks;
  for (int i = 0; i < 80; ++i) blocks.push_back(turn(0.98 + 0.0002 * i, 0.04 * i));
  const auto matrix = with_spectrum(blocks);
  const auto few = of_matrix(matrix, {.iterations = 16});
  EXPECT_FALSE(few.converged);
  EXPECT_EQ(few.iterations, 16);
  const auto all = of_matrix(matrix, {.tolerance = 1e-9, .iterations = 1000});
  EXPECT_TRUE(all.converged);
  EXPECT_NEAR(all.value, 0.98 + 0.0002 * 79, 1e-7);
}

TEST(Spectrum, SpacesThatEndEarly) {
  EXPECT_NEAR(of_matrix(0.5 * at::eye(40, at::kDouble), {}).value, 0.5, 1e-12);
  const auto nothing = of_matrix(at::zeros({5, 5}, at::kDouble), {});
  EXPECT_EQ(nothing.value, 0);
  EXPECT_TRUE(nothing.converged);
}

TEST(Spectrum, MapsSideBySideAreApart) {
  const auto factors = at::tensor({0.3, 2.0, 1.1}, at::kDouble).unsqueeze(1);
  const auto radii = spectral_radii([&](const Tensor& x) { return at::sin(x) * factors; },
                                    at::zeros({3, 6}, at::kDouble), {});
  EXPECT_NEAR(radii[0].value, 0.3, 1e-12);
  EXPECT_NEAR(radii[1].value, 2.0, 1e-12);
  EXPECT_NEAR(radii[2].value, 1.1, 1e-12);
}

TEST(OwnPosition, GivesTheStatesOfThePass) {
  const NoGrad guard;
  constexpr std::int64_t kPassLoops = 4;
  for (const auto* timestep : {"none", "loop-gate", "branch-gate", "adaln"}) {
    auto config =
        tiny_config({"model.history=dense", "model.history_window=2", "model.qk_norm=gain",
                     "model.loop_norm=true", "model.timestep=" + std::string(timestep)});
    const auto model = tiny_model(config.model);
    auto input = tiny_input(1, 7);
    input.documents_BT = at::tensor({0, 0, 0, 1, 1, 1, 1}, at::kLong).unsqueeze(0);
    std::vector<Tensor> before;
    const LoopedPass pass(model, input, [&](const BlockRun& run) {
      if (run.part == "core") before.push_back(run.before);
    });
    const auto positions = at::tensor({5, 0, 3}, at::kLong);
    const OwnPosition own(model, input, pass.e_BTD(), kPassLoops, positions);
    LoopPoint point{pass.initial_state(), 0, {}};
    while (point.loop < kPassLoops) {
      before.clear();
      const auto next = pass.run_from(point, {.loops = 1, .of = kPassLoops});
      const auto got = own.run({point, before}, point.state[0].index_select(0, positions));
      EXPECT_LE((got - next[0].index_select(0, positions)).abs().max().item<double>(), 1e-12)
          << timestep << ", loop " << point.loop;
      pass.advance(point, next);
    }
  }
}

}  // namespace
}  // namespace rondo
