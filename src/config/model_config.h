// The section [model] of a recipe.
#pragma once

#include <cstdint>
#include <string>

#include "config/enums.h"
#include "config/range.h"

namespace rondo {

/// Shape and wiring of the model. A plain transformer is a looped one with `loops.forward = 1`,
/// injection "none" and `loop_norm = false`. Which keys belong to which kind: config/kinds.h.
struct ModelConfig {
  ModelKind kind = ModelKind::kLooped;
  std::int64_t d_model = 256;
  std::int64_t heads = 4;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t d_ff = 0;
  QkNorm qk_norm = QkNorm::kNone;
  QkNormOrder qk_norm_order = QkNormOrder::kAfterRope;
  double rope_base = 10000.0;
  RopeScaling rope_scaling = RopeScaling::kNone;
  double norm_eps = 1e-5;
  Init init = Init::kNormal;
  double residual_divisor = 0.0;
  bool tied_head = false;
  double logit_scale = 1.0;
  double logit_softcap = 0.0;
  std::int64_t vocab = 0;
  std::string layout;
  std::int64_t prelude_layers = 1;
  std::int64_t core_layers = 2;
  std::int64_t coda_layers = 1;
  StateInit state_init = StateInit::kPrelude;
  double state_std = 1.0;
  Injection injection = Injection::kDense;
  InjectionInit injection_init = InjectionInit::kState;
  bool loop_norm = true;
  HistoryForm history = HistoryForm::kNone;
  std::int64_t history_window = 0;
  TimestepForm timestep = TimestepForm::kNone;
  TimestepGrid timestep_grid = TimestepGrid::kRescaled;
  std::int64_t encoder_layers = 4;
  std::int64_t decoder_layers = 4;
  std::int64_t feedback_interval = 1;
  std::int64_t window = 8;
  double merge_scale = 0.1;
  double merge_bias = 0.0;
  bool share_blocks = false;
  /// Not a key: `loops.forward`, set by resolve(). The grid "prefix" of a timestep needs it.
  std::int64_t trained_loops = 1;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("kind", self.kind, "looped language model or recurrent looped transformer");
    visit("d_model", self.d_model, kPositive, "width D of the residual stream");
    visit("heads", self.heads, kPositive, "query heads H");
    visit("kv_heads", self.kv_heads, kNotNegative, "key/value heads G; 0 = heads");
    visit("head_dim", self.head_dim, kNotNegative, "head width K; 0 = d_model / heads");
    visit("d_ff", self.d_ff, kNotNegative, "feed-forward width F; 0 = 8/3 d_model, rounded");
    visit("qk_norm", self.qk_norm, "RMSNorm of queries and keys, per head");
    visit("qk_norm_order", self.qk_norm_order,
          "after-rope: RoPE, then the norm; before-rope: the reverse");
    visit("rope_base", self.rope_base, kAboveZero, "base of the rotary frequencies");
    visit("rope_scaling", self.rope_scaling, "llama3: the frequency scaling of Llama 3.1");
    visit("norm_eps", self.norm_eps, kNotNegative, "epsilon of every RMSNorm");
    visit("init", self.init, "initial values: normal (0.02), scaled (width, depth), uniform");
    visit("residual_divisor", self.residual_divisor, kNotNegative,
          "scaled: what outputs into the residual stream start divided by; 0 = stored layers");
    visit("tied_head", self.tied_head, "the head reads the embedding table");
    visit("logit_scale", self.logit_scale, kAboveZero, "factor on the logits");
    visit("logit_softcap", self.logit_softcap, kNotNegative,
          "c: logits become c tanh(logits / c); 0 = off");
    visit("vocab", self.vocab, kNotNegative, "rows of the embedding; 0 = the tokenizer's size");
    visit("layout", self.layout,
          "p + s x T + c in one string, as \"1+2x9+1\", or \"4x7\" without prelude and coda; "
          "written out as the keys it stands for");
    visit("prelude_layers", self.prelude_layers, kLayers, "layers before the loop, p");
    visit("core_layers", self.core_layers, kLayers, "layers inside the loop, s");
    visit("coda_layers", self.coda_layers, kLayers, "layers after the loop, c");
    visit("state_init", self.state_init, "state before the first loop");
    visit("state_std", self.state_std, kNotNegative, "spread of a normal initial state");
    visit("injection", self.injection, "how the prelude's output enters every loop");
    visit("injection_init", self.injection_init,
          "a dense injection starts by passing on the state or the input");
    visit("loop_norm", self.loop_norm, "RMSNorm at the end of every loop");
    visit("history", self.history, "how the states of earlier loops enter a loop");
    visit("history_window", self.history_window, kLayers, "earlier states that enter, w");
    visit("timestep", self.timestep, "what the time of a loop acts on");
    visit("timestep_grid", self.timestep_grid,
          "a loop's time: l / T with the T loops of the pass (rescaled) or of training (prefix)");
    visit("encoder_layers", self.encoder_layers, kLayers, "rlt: layers of the encoder, L_E");
    visit("decoder_layers", self.decoder_layers, kLayers, "rlt: layers of the decoder, L_D");
    visit("feedback_interval", self.feedback_interval, kNotNegative,
          "rlt: tokens between two feedbacks, B; 1 = RLT-1, 0 = none and no merge (RLT-0)");
    visit("window", self.window, kPositive,
          "rlt: positions that decoder self-attention sees, the current one included, W");
    visit("merge_scale", self.merge_scale, kNotNegative,
          "rlt: factor on what the feedback adds, alpha");
    visit("merge_bias", self.merge_bias, kGateBias,
          "rlt: value at which the bias of the merge's gate starts; 0 = half open, lower = less");
    visit("share_blocks", self.share_blocks,
          "rlt: the decoder uses the encoder's attention and MLP matrices, with norms of its own");
  }
};

}  // namespace rondo
