// All probes in one go: which rows there are, for which models, and what is refused.
#include "diagnose/diagnosis.h"

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "base/interrupt.h"
#include "diagnose/occurrences.h"
#include "tests/diagnose/support.h"
#include "tests/model/support.h"

namespace rondo {
namespace {

using golden_probes::Case;
using golden_probes::expect_near;

DiagnosisOptions options_for(const Case& golden) {
  return {.probes = probes_for(golden.config.model),
          .loops = golden.loops,
          .trained_loops = golden.config.loops.forward,
          .interaction_positions = 1000,
          .jacobians = 1000,
          .most_gradient_numbers = 1e9,
          .leave_out = true};
}

/// Values by "probe site", in order; pairs apart.
std::map<std::string, std::vector<double>> by_site(const Diagnosis& diagnosis) {
  std::map<std::string, std::vector<double>> values;
  for (const auto& row : diagnosis.rows) {
    const auto site = row.from.empty() ? row.site : "pairs";
    values[std::string(name_of(row.probe)) + " " + site].push_back(row.value);
  }
  return values;
}

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_status(), 2);
    return error.what();
  }
  return "no error";
}

TEST(Diagnosis, HasEveryProbeOfTheGoldenFile) {
  const auto golden = golden_probes::load("sandwich", at::kDouble, Form::kComposed);
  const auto diagnosis = diagnose(Model(golden.model), golden.sequences, options_for(golden));
  EXPECT_TRUE(diagnosis.notes.empty());
  EXPECT_EQ(diagnosis.interaction_positions, 21);
  EXPECT_EQ(diagnosis.jacobians, 3);
  const auto values = by_site(diagnosis);
  constexpr double kTolerance = 1e-6;
  const std::map<std::string, std::string> names = {
      {"angle loop", "angle.loop"},
      {"update loop", "update.loop"},
      {"variance state", "variance.state"},
      {"variance state_normalised", "variance.normalised"},
      {"variance gain_inject", "variance.gain_inject"},
      {"variance gain_core", "variance.gain_core"},
      {"variance gain_mix", "variance.gain_mix"},
      {"interaction lag", "interaction.lag"},
      {"interaction lags_from_1", "interaction.lags_from_1"},
      {"response terminal", "response.terminal"},
      {"gradient_flow state", "gradient_flow.state"},
      {"gradient_flow weights", "gradient_flow.weights"},
      {"spectral_radius loop", "spectral_radius"},
      {"logit_lens loss_nats", "logit_lens"},
      {"logit_lens loss_nats_without_coda", "logit_lens.without_coda"}};
  for (const auto& [ours, theirs] : names) expect_near(golden, theirs, values.at(ours), kTolerance);
  EXPECT_EQ(values.at("angle core.1").size(), 6U);
  EXPECT_EQ(values.at("update coda.0").size(), 1U);
  EXPECT_EQ(values.at("interaction pairs").size(), 14U * 13 / 2);
}

TEST(Diagnosis, PairsCarryTheirPlaces) {
  const auto golden = golden_probes::load("conditioned", at::kDouble, Form::kComposed);
  auto options = options_for(golden);
  options.probes = {Probe::kInteraction};
  const auto expected = golden.file.tensors.at("interaction").to(at::kDouble);
  const Occurrences occurrences(golden.config.model, golden.loops);
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> places;
  for (std::size_t i = 0; i < occurrences.size(); ++i)
    places[{occurrences[i].block, occurrences[i].loop}] = static_cast<std::int64_t>(i);
  for (const auto& row : diagnose(Model(golden.model), golden.sequences, options).rows) {
    if (row.from.empty()) continue;
    const auto i = places.at({row.from, row.from_loop.value_or(0)});
    const auto j = places.at({row.site, row.loop.value_or(0)});
    EXPECT_NEAR(row.value, expected[i][j].item<double>(), 1e-6 * std::abs(row.value)) << i << j;
    EXPECT_EQ(row.lag.has_value(), row.loop && row.from_loop);
    EXPECT_TRUE(!row.lag || *row.lag == *row.loop - *row.from_loop);
  }
}

TEST(Diagnosis, FewerLoopsThanAResponseTakesAreNotedOrRefused) {
  const auto golden = golden_probes::load("trained_depth", at::kDouble, Form::kComposed);
  auto options = options_for(golden);
  options.probes = {Probe::kResponse, Probe::kUpdate};
  const auto diagnosis = diagnose(Model(golden.model), golden.sequences, options);
  ASSERT_EQ(diagnosis.notes.size(), 1U);
  EXPECT_NE(diagnosis.notes[0].find("--loops 6 or more"), std::string::npos) << diagnosis.notes[0];
  EXPECT_FALSE(by_site(diagnosis).contains("response terminal"));
  options.leave_out = false;
  const auto message =
      message_of([&] { diagnose(Model(golden.model), golden.sequences, options); });
  EXPECT_NE(message.find("--loops 6 or more here; got 3"), std::string::npos) << message;
  options.loops = 6;
  EXPECT_TRUE(by_site(diagnose(Model(golden.model), golden.sequences, options))
                  .contains("response terminal"));
}

TEST(Diagnosis, GradientsOfWeightsStayWithinTheirMemory) {
  const auto golden = golden_probes::load("base_loop", at::kFloat, Form::kFused);
  auto options = options_for(golden);
  options.probes = {Probe::kGradientFlow};
  options.most_gradient_numbers = 1000;
  const auto diagnosis = diagnose(Model(golden.model), golden.sequences, options);
  EXPECT_EQ(diagnosis.notes.size(), 1U);
  EXPECT_FALSE(by_site(diagnosis).contains("gradient_flow weights"));
  EXPECT_EQ(by_site(diagnosis).at("gradient_flow state").size(), 7U);
}

TEST(Diagnosis, StopsWhenAskedTo) {
  const auto golden = golden_probes::load("base_loop", at::kFloat, Form::kFused);
  auto options = options_for(golden);
  std::int64_t shown = 0;
  options.progress = [&](const std::string&) {
    if (++shown == 2) set_interrupt(2);
  };
  const auto diagnosis = diagnose(Model(golden.model), golden.sequences, options);
  set_interrupt(0);
  EXPECT_TRUE(diagnosis.interrupted);
  EXPECT_TRUE(diagnosis.rows.empty());
  EXPECT_EQ(shown, 2);
}

TEST(Diagnosis, AnRltHasFourProbes) {
  const auto model = testing_models::tiny_rlt();
  ProbeSequences sequences{.count = 2, .positions = 14, .get = [](std::int64_t n) {
                             ProbeSequence sequence;
                             sequence.input = testing_models::tiny_input(2, 7);
                             sequence.input.tokens_BT = sequence.input.tokens_BT.narrow(0, n, 1);
                             sequence.targets_S = sequence.input.tokens_BT.flatten().roll(-1, 0);
                             return sequence;
                           }};
  DiagnosisOptions options{.probes = probes_for(model.config),
                           .loops = 1,
                           .trained_loops = 1,
                           .interaction_positions = 1,
                           .jacobians = 1,
                           .most_gradient_numbers = 0};
  const auto values = by_site(diagnose(Model(model), sequences, options));
  EXPECT_EQ(values.at("update loop").size(), 1U);
  EXPECT_EQ(values.at("logit_lens agreement"),
            (std::vector{values.at("logit_lens agreement")[0], 1.0}));
  // By hand.
  const NoGrad guard;
  const RltPass pass(model, testing_models::tiny_input(2, 7).tokens_BT);
  const auto e = pass.e_BTD(), s = pass.run();
  const auto update = ((s - e).norm(2, {2}) / e.norm(2, {2})).mean().item<double>();
  EXPECT_NEAR(values.at("update loop")[0], update, 1e-12);
  EXPECT_NEAR(values.at("variance state")[1], s.var({2}).mean().item<double>(), 1e-12);
  const auto message = message_of([&] { check_probes({Probe::kInteraction}, model.config); });
  EXPECT_NE(message.find("expected angle, update, variance, logit_lens"), std::string::npos);
}

TEST(Diagnosis, NamesThatAreNone) {
  EXPECT_EQ(parse_probes("update,angle"), (std::set{Probe::kAngle, Probe::kUpdate}));
  const auto message = message_of([] { parse_probes("angle,varience"); });
  EXPECT_NE(
      message.find("--probes varience: no such probe, did you mean variance?; expected angle"),
      std::string::npos)
      << message;
}

}  // namespace
}  // namespace rondo
