// How the time of a loop acts on it.
#pragma once

#include "config/config.h"
#include "nn/block.h"

namespace rondo {

/// Weights on the eight features psi of a loop's time (Zhuang et al., 2609.36636, C.3), all from 0,
/// where time has no effect. q and W below are the weights; one of the three is there:
///   loop-gate    h_{l+1} = h_l + g (y − h_l) for the core's y          g = 1 + q · psi
///   branch-gate  u + g branch(norm u) for each branch of the core       g = 1 + q · psi
///   adaln        u + g ⊙ branch((1 + s) ⊙ norm u)                       [s ; g − 1] = W psi
struct Timestep {
  std::optional<Parameter> loop_gate;    ///< [8]
  std::optional<Parameter> branch_gate;  ///< [layers, 2, 8]: attention, mlp
  std::optional<Parameter> adaln;        ///< [layers, 2, 2D, 8]: the first D rows make s

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("loop_gate", self.loop_gate);
    visit("branch_gate", self.branch_gate);
    visit("adaln", self.adaln);
  }
};

Timestep make_timestep(const ModelConfig& config);

/// psi = (t, dt, t², dt², t dt, sin πt, cos πt − 1, sin 2πt) of loop `loop` (from 0) on a grid of
/// `grid` loops: t = loop / grid, dt = 1 / grid.
std::array<double, 8> time_features(std::int64_t loop, std::int64_t grid);

/// What time does in one loop.
struct LoopGates {
  Tensor loop;                        ///< g − 1 of the loop gate, [D]; undefined = 0
  std::vector<BranchGates> branches;  ///< of the core's layers; empty = 1 everywhere
};

/// What the loops of one pass share.
struct TimestepContext {
  TimestepForm form = TimestepForm::kNone;
  std::int64_t width = 0, grid = 1;
  Tensor weight;

  void append_to(std::vector<Tensor>& list) const;
  [[nodiscard]] TimestepContext rebuilt(const std::vector<Tensor>& list, std::size_t& next) const;
  [[nodiscard]] LoopGates at(std::int64_t loop) const;
};

/// `grid`: the loops that make up one unit of time.
TimestepContext prepare(const Timestep& timestep, const ModelConfig& config, std::int64_t grid);

}  // namespace rondo
