// What both kinds of model can do.
#include "model/model.h"

#include "base/error.h"
#include "nn/init.h"

namespace rondo {

Model make_model(const ModelConfig& config) {
  if (config.kind == ModelKind::kRlt) return make_rlt(config);
  return make_looped_lm(config);
}

Model initial_model(const ModelConfig& config, std::uint64_t seed) {
  auto model = make_model(config);
  visit_parameters(model, [&](const std::string& name, Parameter& parameter) {
    initialise(name, parameter, config, seed);
  });
  return model;
}

const ModelConfig& config_of(const Model& model) {
  return std::visit([](const auto& held) -> const ModelConfig& { return held.config; }, model);
}

void set_form(Model& model, Form form) {
  std::visit([&](auto& held) { held.form = form; }, model);
}

void set_feedback_interval(Model& model, std::int64_t interval, std::string_view name) {
  auto* rlt = std::get_if<Rlt>(&model);
  require(rlt != nullptr, "{} {}: this model is looped and feeds nothing back; leave it out", name,
          interval);
  const auto trained = rlt->config.feedback_interval;
  require((interval == 0) == (trained == 0),
          "{} {}: the model was trained with interval {}, {}; expected {}", name, interval, trained,
          trained == 0 ? "without feedback, and has no weights for any"
                       : "and its merge cannot be left out",
          trained == 0 ? "0" : "1 or more");
  rlt->config.feedback_interval = interval;
}

void set_timestep_grid(Model& model, TimestepGrid grid, std::string_view name) {
  auto* looped = std::get_if<LoopedLm>(&model);
  require(looped != nullptr && looped->config.timestep != TimestepForm::kNone,
          "{} {}: this model's loops do not go by a time; leave it out", name, word(grid));
  looped->config.timestep_grid = grid;
}

ModelPass::ModelPass(const Model& model, const LoopedInput& input)
    : pass_([&]() -> std::variant<LoopedPass, RltPass> {
        if (const auto* rlt = std::get_if<Rlt>(&model)) return RltPass(*rlt, input.tokens_BT);
        return LoopedPass(std::get<LoopedLm>(model), input);
      }()) {}

Tensor ModelPass::run(const LoopPlan& plan, const LoopObserver& observe) const {
  if (const auto* looped = std::get_if<LoopedPass>(&pass_)) return looped->run(plan, observe);
  const auto states = std::get<RltPass>(pass_).run();
  if (observe) observe(1, states);
  return states;
}

void ModelPass::run_each(std::span<const std::int64_t> loops, const LoopObserver& observe) const {
  if (const auto* looped = std::get_if<LoopedPass>(&pass_)) return looped->run_each(loops, observe);
  observe(1, std::get<RltPass>(pass_).run());
}

Tensor ModelPass::logits(const Tensor& state_BTD) const {
  if (const auto* looped = std::get_if<LoopedPass>(&pass_)) return looped->logits(state_BTD);
  return logits_of(std::get<RltPass>(pass_).model(), state_BTD);
}

}  // namespace rondo
