// A model of either kind, and what the rest of the program asks of it.
#pragma once

#include <variant>

#include "model/looped_lm.h"
#include "model/rlt.h"

namespace rondo {

/// visit_parameters() walks over what it holds.
using Model = std::variant<LoopedLm, Rlt>;

/// A model of config.kind with shapes and roles but without values. `config.vocab` must be set.
Model make_model(const ModelConfig& config);

/// The same with initial values from `seed` (nn/init.h), ready to train.
Model initial_model(const ModelConfig& config, std::uint64_t seed);

/// The shape it was made with, and the interval in use.
const ModelConfig& config_of(const Model& model);

/// Sets which form of the operations the model uses.
void set_form(Model& model, Form form);

/// Makes an RLT use another feedback interval than the one it was trained with last. Throws an
/// input error, which calls it `name`, for a looped model, and between 0 and others, as a model has
/// the weights of the merge or has them not.
void set_feedback_interval(Model& model, std::int64_t interval, std::string_view name);

/// Makes a model go by another grid of time than the one in its recipe; they are the same at the
/// loops it was trained with. Throws an input error, which calls it `name`, for a model without
/// timesteps.
void set_timestep_grid(Model& model, TimestepGrid grid, std::string_view name);

/// A forward pass of either kind; see LoopedPass and RltPass. The model must outlive it.
class ModelPass {
 public:
  ModelPass(const Model& model, const LoopedInput& input);

  /// Runs `plan.loops` loops, 1 for an RLT, and returns the states that are read out, [B, T, D].
  /// A looped model shows its state before the first loop and after each; an RLT, which has no
  /// state before its loop, s as that of loop 1.
  Tensor run(const LoopPlan& plan, const LoopObserver& observe = {}) const;

  /// LoopedPass::run_each(); an RLT shows its states once, as those of loop 1.
  void run_each(std::span<const std::int64_t> loops, const LoopObserver& observe) const;

  /// Logits of states with scale and soft cap, [B, T, V].
  [[nodiscard]] Tensor logits(const Tensor& state_BTD) const;

 private:
  std::variant<LoopedPass, RltPass> pass_;
};

}  // namespace rondo
