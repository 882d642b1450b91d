// Tiny models for tests.
#pragma once

#include "config/recipe.h"
#include "model/model.h"
#include "tests/reference/compare.h"

namespace rondo::testing_models {

/// A recipe of a tiny model; `extra` adds or replaces keys ("model.injection=scalar").
inline Config tiny_config(const Overrides& extra = {}) {
  Overrides set = {"model.d_model=12", "model.heads=3",  "model.kv_heads=1", "model.head_dim=4",
                   "model.d_ff=20",    "model.vocab=17", "loops.forward=3",  "loops.backward=3"};
  set.insert(set.end(), extra.begin(), extra.end());
  return parse_recipe("", "tiny", set);
}

/// Values whose every weight is of a size that matters (the usual start would hide the loops).
template <typename AnyModel>
void fill_with_values(AnyModel& model, at::ScalarType type) {
  double phase = 0.3;
  visit_parameters(model, [&](const std::string&, Parameter& parameter) {
    phase += 0.7;
    const double size = parameter.role == Role::kGain ? 0.2 : 0.35;
    auto value = reference::values(parameter.shape, phase) * size;
    if (parameter.role == Role::kGain) value = value + 1.0;
    if (parameter.role == Role::kInjectScale) value = value + parameter.start;
    parameter.value = value.to(type).detach().requires_grad_(true);
  });
}

inline LoopedLm tiny_model(const ModelConfig& config, at::ScalarType type = at::kDouble) {
  auto model = make_looped_lm(config);
  fill_with_values(model, type);
  return model;
}

/// A recipe of a tiny RLT; `extra` adds or replaces keys.
inline Config tiny_rlt_config(const Overrides& extra = {}) {
  Overrides set = {"model.kind=rlt",         "model.d_model=12",       "model.heads=3",
                   "model.kv_heads=1",       "model.d_ff=20",          "model.vocab=17",
                   "model.encoder_layers=1", "model.decoder_layers=2", "model.window=3",
                   "model.merge_scale=0.7",  "data.sequence_length=7"};
  set.insert(set.end(), extra.begin(), extra.end());
  return parse_recipe("", "tiny", set);
}

inline Rlt tiny_rlt(const Overrides& extra = {}, at::ScalarType type = at::kDouble) {
  auto model = make_rlt(tiny_rlt_config(extra).model);
  fill_with_values(model, type);
  return model;
}

inline LoopedInput tiny_input(std::int64_t rows = 2, std::int64_t length = 7) {
  const auto ids = (at::arange(rows * length, at::kLong) * 5 + 3).remainder(17);
  return {.tokens_BT = ids.view({rows, length}), .documents_BT = {}, .sample_keys = {}};
}

inline Tensor loss_of(const LoopedLm& model, const LoopedInput& input, const LoopPlan& plan) {
  const LoopedPass pass(model, input);
  const auto logits = pass.logits(pass.run(plan)).flatten(0, 1);
  return cross_entropy(logits, input.tokens_BT.flatten().roll(-1, 0)).mean();
}

/// Gradients by name; zeros where none arrived.
template <typename AnyModel>
std::map<std::string, Tensor> gradients_after(AnyModel& model,
                                              const std::function<void()>& backward) {
  visit_parameters(model, [](const std::string&, Parameter& p) { p.value.mutable_grad().reset(); });
  backward();
  std::map<std::string, Tensor> found;
  visit_parameters(model, [&](const std::string& name, Parameter& p) {
    found[name] =
        p.value.grad().defined() ? p.value.grad().clone() : at::zeros_like(p.value.detach());
  });
  return found;
}

template <typename AnyModel>
std::map<std::string, Tensor> gradients_of(AnyModel& model, const Tensor& loss) {
  return gradients_after(model, [&] { back_propagate(loss); });
}

}  // namespace rondo::testing_models
