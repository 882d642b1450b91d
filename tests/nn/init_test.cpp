// Initial values by role, and rotary frequencies.
#include "nn/init.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nn/rotary.h"

namespace rondo {
namespace {

Tensor start(const Parameter& like, const ModelConfig& config, std::uint64_t seed = 1,
             const std::string& name = "core.0.attn.q.weight") {
  Parameter parameter = like;
  initialise(name, parameter, config, seed);
  return parameter.value.detach();
}

double spread(const Tensor& value) { return value.std().item<double>(); }

TEST(Init, NormalHasSpreadTwoHundredths) {
  ModelConfig config;
  for (const Role role : {Role::kEmbedding, Role::kHead, Role::kMatrix, Role::kResidualOutput})
    EXPECT_NEAR(spread(start({.role = role, .shape = {200, 300}, .value = {}}, config)), 0.02,
                2e-4);
}

TEST(Init, ScaledFollowsWidthAndDepth) {
  ModelConfig config;  // 4 stored layers
  config.init = Init::kScaled;
  const Parameter wide{.role = Role::kMatrix, .shape = {400, 100}, .value = {}};
  EXPECT_NEAR(spread(start(wide, config)), 0.5 / 10.0, 1e-3);
  const Parameter narrow{.role = Role::kMatrix, .shape = {100, 400}, .value = {}};
  EXPECT_NEAR(spread(start(narrow, config)), 0.5 / 20.0 * 0.5, 2e-4);
  const Parameter output{.role = Role::kResidualOutput, .shape = {200, 200}, .value = {}};
  EXPECT_NEAR(spread(start(output, config)), 0.5 / std::sqrt(200.0) / 4.0, 1e-4);
  const Parameter embedding{.role = Role::kEmbedding, .shape = {300, 200}, .value = {}};
  EXPECT_NEAR(spread(start(embedding, config)), 0.02, 2e-4);
  config.residual_divisor = 2;
  EXPECT_NEAR(spread(start(output, config)), 0.5 / std::sqrt(200.0) / 2.0, 2e-4);
  EXPECT_NEAR(spread(start(wide, config)), 0.5 / 10.0, 1e-3);
}

TEST(Init, UniformStaysInItsBounds) {
  ModelConfig config;
  config.init = Init::kUniform;
  const auto value = start({.role = Role::kMatrix, .shape = {300, 75}, .value = {}}, config);
  const double limit = std::sqrt(3.0 / 75.0);
  EXPECT_LE(value.abs().max().item<double>(), limit);
  EXPECT_NEAR(spread(value), limit / std::sqrt(3.0), 3e-3);
  EXPECT_NEAR(spread(start({.role = Role::kEmbedding, .shape = {300, 75}, .value = {}}, config)),
              1.0, 0.02);
  EXPECT_NEAR(spread(start({.role = Role::kHead, .shape = {300, 75}, .value = {}}, config)), 1e-3,
              2e-5);
}

TEST(Init, DenseInjectionPassesOnStateOrInput) {
  ModelConfig config;
  const Parameter inject{.role = Role::kInjectMatrix, .shape = {3, 6}, .value = {}};
  EXPECT_TRUE(start(inject, config).equal(at::cat({at::eye(3), at::zeros({3, 3})}, 1)));
  config.injection_init = InjectionInit::kInput;
  EXPECT_TRUE(start(inject, config).equal(at::cat({at::zeros({3, 3}), at::eye(3)}, 1)));
}

TEST(Init, DependsOnSeedAndNameOnly) {
  ModelConfig config;
  const Parameter small{.role = Role::kMatrix, .shape = {4, 8}, .value = {}};
  const Parameter large{.role = Role::kMatrix, .shape = {6, 8}, .value = {}};
  EXPECT_TRUE(start(small, config).equal(start(small, config)));
  EXPECT_TRUE(start(small, config).equal(start(large, config).narrow(0, 0, 4)));
  EXPECT_FALSE(start(small, config).equal(start(small, config, 2)));
  EXPECT_FALSE(start(small, config).equal(start(small, config, 1, "core.1.attn.q.weight")));
}

TEST(Rotary, FrequenciesAndLlamaScaling) {
  ModelConfig config;
  config.head_dim = 8;
  config.rope_base = 500000.0;
  const auto plain = rotary_frequencies(config);
  ASSERT_EQ(plain.size(), 4U);
  EXPECT_DOUBLE_EQ(plain[0], 1.0);
  EXPECT_NEAR(plain[1], std::pow(500000.0, -0.25), 1e-15);
  config.rope_scaling = RopeScaling::kLlama3;
  const auto scaled = rotary_frequencies(config);
  EXPECT_DOUBLE_EQ(scaled[0], plain[0]);        // short wavelength: kept
  EXPECT_DOUBLE_EQ(scaled[3], plain[3] / 8.0);  // longer than the old context: stretched
  EXPECT_LE(scaled[2], plain[2]);
  EXPECT_GE(scaled[2], plain[2] / 8.0);
}

}  // namespace
}  // namespace rondo
