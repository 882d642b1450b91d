// Every probe against the independent implementation, whose generator and results lie in
// tests/golden: in double precision as it computes, and in single precision with fused operations.
#include <gtest/gtest.h>

#include <cmath>

#include "diagnose/gradient_flow.h"
#include "diagnose/interaction.h"
#include "diagnose/logit_lens.h"
#include "diagnose/spectral_radius.h"
#include "diagnose/trajectory.h"
#include "tests/diagnose/support.h"

namespace rondo {
namespace {

using golden_probes::Case;
using golden_probes::expect_near;

/// A type of numbers, and what it may be off by relative to every single number.
struct Kind {
  at::ScalarType type;
  Form form;
  double tolerance;
};

// The files are stored in single precision, 6e-8. The sums of single precision are those of
// libraries that round in different orders.
const Kind kDouble = {at::kDouble, Form::kComposed, 2e-7};
const Kind kSingle = {at::kFloat, Form::kFused, 1e-5};

void check_path(const Kind& kind) {
  const NoGrad guard;
  for (const auto& name : golden_probes::cases()) {
    const auto golden = golden_probes::load(name, kind.type, kind.form);
    Trajectory trajectory(golden.config.model, golden.loops);
    for (std::int64_t n = 0; n < golden.sequences.count; ++n) {
      const auto sequence = golden.sequences.get(n);
      const LoopedPass pass(golden.model, sequence.input,
                            [&](const BlockRun& run) { trajectory.add_block(run); });
      const auto last = pass.run(
          {.loops = golden.loops},
          [&](std::int64_t loop, const Tensor& state) { trajectory.add_state(loop, state); });
      EXPECT_TRUE(pass.coda(last).defined());
      trajectory.end_sequence(sequence.positions());
    }
    const auto path = trajectory.path();
    expect_near(golden, "angle.block", path.block_angle, kind.tolerance);
    expect_near(golden, "angle.loop", path.loop_angle, kind.tolerance);
    expect_near(golden, "update.block", path.block_update, kind.tolerance);
    expect_near(golden, "update.loop", path.loop_update, kind.tolerance);
    expect_near(golden, "variance.state", path.variance, kind.tolerance);
    expect_near(golden, "variance.gain_inject", path.inject_gain, kind.tolerance);
    expect_near(golden, "variance.gain_core", path.core_gain, kind.tolerance);
    expect_near(golden, "variance.gain_mix", path.mix_gain, kind.tolerance);
    const auto relative = normalised(path.variance, golden.config.loops.forward);
    EXPECT_EQ(relative.empty(), !golden.has("variance.normalised"));
    if (!relative.empty()) expect_near(golden, "variance.normalised", relative, kind.tolerance);
    for (std::size_t t = 0; t < path.inject_gain.size(); ++t)
      EXPECT_NEAR(path.inject_gain[t] * path.core_gain[t] * path.mix_gain[t],
                  path.variance[t + 1] / path.variance[t], 1e-12);
  }
}

TEST(GoldenProbes, Path) { check_path(kDouble); }
TEST(GoldenProbes, PathInSinglePrecision) { check_path(kSingle); }

void check_lens(const Kind& kind) {
  const NoGrad guard;
  for (const auto& name : golden_probes::cases()) {
    const auto golden = golden_probes::load(name, kind.type, kind.form);
    LogitLens with_coda(golden.loops + 1, golden.config.model.vocab),
        without_coda(golden.loops + 1, golden.config.model.vocab);
    for (std::int64_t n = 0; n < golden.sequences.count; ++n) {
      const auto sequence = golden.sequences.get(n);
      const LoopedPass pass(golden.model, sequence.input);
      const Head head = [&](const Tensor& x) { return pass.head(x); };
      pass.run({.loops = golden.loops}, [&](std::int64_t loop, const Tensor& state) {
        with_coda.add(loop, pass.read_out(state), head, sequence.targets_S);
        without_coda.add(loop, pass.final_norm(state), head, sequence.targets_S);
      });
      with_coda.end_sequence(sequence.targets_S);
      without_coda.end_sequence(sequence.targets_S);
    }
    std::vector<double> losses, bare;
    for (const auto& row : with_coda.rows()) losses.push_back(row.loss_nats);
    for (const auto& row : without_coda.rows()) bare.push_back(row.loss_nats);
    expect_near(golden, "logit_lens", losses, kind.tolerance);
    expect_near(golden, "logit_lens.without_coda", bare, kind.tolerance);
    EXPECT_EQ(with_coda.rows().back().agreement, 1.0);
    EXPECT_LT(with_coda.rows().front().agreement, 1.0);
  }
}

TEST(GoldenProbes, LogitLens) { check_lens(kDouble); }
TEST(GoldenProbes, LogitLensInSinglePrecision) { check_lens(kSingle); }

void check_interaction(const Kind& kind) {
  for (const auto& name : golden_probes::cases()) {
    const auto golden = golden_probes::load(name, kind.type, kind.form);
    Interaction interaction(golden.model, golden.loops);
    for (std::int64_t n = 0; n < golden.sequences.count; ++n)
      interaction.add(golden.sequences.get(n));
    const auto matrix = interaction.matrix();
    const auto& occurrences = interaction.occurrences();
    const auto trained = golden.config.loops.forward;
    expect_near(golden, "interaction.update", matrix.update, kind.tolerance);
    expect_near(golden, "interaction.change", matrix.change, kind.tolerance);
    expect_near(golden, "interaction", matrix.share, kind.tolerance);
    const auto curve = lag_curve(matrix, occurrences, trained);
    std::vector<double> values, pairs;
    for (const auto& mean : curve) {
      values.push_back(mean.value);
      pairs.push_back(static_cast<double>(mean.pairs));
    }
    expect_near(golden, "interaction.lag", values, kind.tolerance);
    expect_near(golden, "interaction.lag_pairs", pairs, 0);
    expect_near(golden, "interaction.lags_from_1", {mean_from_lag_1(curve)}, kind.tolerance);
    const auto answer = response(matrix, occurrences, trained);
    ASSERT_EQ(answer.has_value(), golden.has("response")) << name;
    EXPECT_EQ(answer.has_value(), golden.loops >= loops_for_response(golden.config.model, trained));
    if (!answer) continue;
    expect_near(golden, "response", answer->value, kind.tolerance);
    expect_near(golden, "response.terminal", {answer->terminal}, kind.tolerance);
    std::vector<double> skips;
    for (auto i = answer->first_skip; i <= answer->last_skip; ++i)
      skips.push_back(static_cast<double>(i));
    expect_near(golden, "response.skips", skips, 0);
  }
}

TEST(GoldenProbes, Interaction) { check_interaction(kDouble); }
TEST(GoldenProbes, InteractionInSinglePrecision) { check_interaction(kSingle); }

void check_gradients(const Kind& kind) {
  for (const auto& name : golden_probes::cases()) {
    const auto golden = golden_probes::load(name, kind.type, kind.form);
    GradientFlow flow(golden.model, golden.loops, true), states(golden.model, golden.loops, false);
    for (std::int64_t n = 0; n < golden.sequences.count; ++n) {
      flow.add(golden.sequences.get(n));
      states.add(golden.sequences.get(n));
    }
    expect_near(golden, "gradient_flow.state", flow.norms().state, kind.tolerance);
    expect_near(golden, "gradient_flow.state", states.norms().state, kind.tolerance);
    expect_near(golden, "gradient_flow.weights", flow.norms().weights, kind.tolerance);
    EXPECT_TRUE(states.norms().weights.empty());
  }
}

TEST(GoldenProbes, GradientFlow) { check_gradients(kDouble); }
TEST(GoldenProbes, GradientFlowInSinglePrecision) { check_gradients(kSingle); }

TEST(GoldenProbes, SpectralRadius) {
  for (const auto& name : golden_probes::cases()) {
    const auto golden = golden_probes::load(name, at::kDouble, Form::kComposed);
    for (const auto site : {JacobianSite::kLast, JacobianSite::kWorst}) {
      SpectralRadius radius(golden.model, golden.loops, site, {.tolerance = 1e-9});
      for (std::int64_t n = 0; n < golden.sequences.count; ++n) radius.add(golden.sequences.get(n));
      std::vector<double> values;
      for (const auto& mean : radius.means()) {
        values.push_back(mean.value);
        EXPECT_EQ(mean.converged, 1.0);
      }
      expect_near(golden, site == JacobianSite::kLast ? "spectral_radius" : "spectral_radius.whole",
                  values, 2e-7);
    }
  }
}

}  // namespace
}  // namespace rondo
