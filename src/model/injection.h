// How the prelude's output e enters every loop: z = inject(h, e).
#pragma once

#include "config/config.h"
#include "nn/parameter.h"

namespace rondo {

/// The five forms (contract; Zhuang et al., 2609.36636, C.2):
///   none              z = h
///   scalar            z = h + a e                   a [1], starts 0
///   channel           z = a ⊙ h + b ⊙ e             a, b [D], start 1, 0
///   residual-channel  z = (1 + a) ⊙ h + b ⊙ e       a, b [D], start 0, 0
///   dense             z = W [h ; e]                 W [D, 2D], starts [I ; 0] or [0 ; I]
struct Inject {
  Injection form = Injection::kNone;
  std::optional<Parameter> weight, a, b;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("weight", self.weight);
    visit("a", self.a);
    visit("b", self.b);
  }
};

Inject make_inject(const ModelConfig& config);

/// What the loops of one pass share: e's part of the injection does not change from loop to loop,
/// so it is computed once.
struct InjectContext {
  Injection form = Injection::kNone;
  Tensor on_state;  ///< factor or matrix that acts on the state; undefined when it is 1
  Tensor from_e;    ///< what is added, [B, T, D]; undefined with no injection

  void append_to(std::vector<Tensor>& list) const;
  [[nodiscard]] InjectContext rebuilt(const std::vector<Tensor>& list, std::size_t& next) const;
};

InjectContext prepare(const Inject& inject, const Tensor& e_BTD);

/// z of one loop, [B, T, D].
Tensor apply(const InjectContext& context, const Tensor& h_BTD);

}  // namespace rondo
