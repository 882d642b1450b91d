// The transformer block: pre-norm attention and pre-norm SwiGLU, and the parts they are made of.
#pragma once

#include <array>
#include <vector>

#include "config/config.h"
#include "nn/parameter.h"
#include "tensor/ops.h"

namespace rondo {

/// y = x Wᵀ, weight [out, in].
struct Linear {
  Parameter weight;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("weight", self.weight);
  }
};

/// RMSNorm with learned gains [D].
struct RmsNorm {
  Parameter weight;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("weight", self.weight);
  }
};

/// Self-attention: q [H·K, D], k and v [G·K, D], o [D, H·K]; gains of QK-norm [K] when it has them.
struct Attention {
  Linear q, k, v, o;
  std::optional<RmsNorm> q_norm, k_norm;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("q", self.q);
    visit("k", self.k);
    visit("v", self.v);
    visit("o", self.o);
    visit("q_norm", self.q_norm);
    visit("k_norm", self.k_norm);
  }
};

/// SwiGLU: gate and up [F, D], down [D, F].
struct Mlp {
  Linear gate, up, down;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("gate", self.gate);
    visit("up", self.up);
    visit("down", self.down);
  }
};

/// One layer.
struct Block {
  RmsNorm attn_norm;
  Attention attn;
  RmsNorm mlp_norm;
  Mlp mlp;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("attn_norm", self.attn_norm);
    visit("attn", self.attn);
    visit("mlp_norm", self.mlp_norm);
    visit("mlp", self.mlp);
  }
};

/// A block with shapes and roles, not yet with values.
Block make_block(const ModelConfig& config);
Linear make_linear(std::int64_t out, std::int64_t in, Role role = Role::kMatrix);
RmsNorm make_norm(std::int64_t width);

/// What all blocks of a forward pass share.
struct BlockContext {
  ModelConfig config;
  RotaryTable rotary;
  Tensor allowed_BTT;  ///< who may attend to whom besides causality; undefined = everyone
  Form form = Form::kFused;
  /// Lengths of sequences that lie one after the other, x [1, N, D], with the rotary table's row
  /// for each (fused form); empty = x [B, T, D].
  std::vector<std::int64_t> lengths = {};
};

/// A block's weights as the products want them: q, k, v in one matrix, gate and up in one matrix,
/// feed-forward width padded with zeros to a multiple of 16 (odd widths cost a third of the speed).
/// Made once per forward pass and used by every loop; gradients flow back to the block's own
/// weights.
struct PackedBlock {
  Tensor attn_norm, q_norm, k_norm, mlp_norm;
  Weight qkv, o, gate_up, down;

  /// The defined tensors in a fixed order, for recomputation.
  void append_to(std::vector<Tensor>& list) const;
  /// A block of the same layout with tensors taken from `list` starting at `next`.
  [[nodiscard]] PackedBlock rebuilt(const std::vector<Tensor>& list, std::size_t& next) const;
};

PackedBlock pack(const Block& block);

/// Queries or keys, split into heads but not yet rotated, with RoPE and QK-norm in the recipe's
/// order: x_BTHK, positions as in context.rotary.
Tensor place(const Tensor& x_BTHK, const Tensor& gains, const BlockContext& context);

/// Queries [B, T, H, K], keys and values [B, T, G, K] of self-attention on the normed x_BTD, ready
/// to be compared.
std::array<Tensor, 3> query_key_value(const PackedBlock& block, const Tensor& x_BTD,
                                      const BlockContext& context);

/// What conditions the two branches of a block, attention and mlp: x + gate ⊙ branch((1 + s) ⊙ norm
/// x) with `scale` = 1 + s. Each [D]; undefined = 1.
struct BranchGates {
  std::array<Tensor, 2> scale, gate;
};

/// x + mlp(norm x).
Tensor feed_forward(const PackedBlock& block, const Tensor& x_BTD, const BlockContext& context,
                    const BranchGates& gates = {});

/// x_BTD through one block: x + attn(norm x), then + mlp(norm x).
Tensor forward(const PackedBlock& block, const Tensor& x_BTD, const BlockContext& context,
               const BranchGates& gates = {});

}  // namespace rondo
