// The parts of a recurrent looped transformer (arXiv 2610.07591): decoder block, memory and merge,
// as they are stored and as the products want them.
#pragma once

#include "nn/block.h"

namespace rondo {

/// Attention from the decoder to the memory: q and o [D, D]; gains of QK-norm [K] when it has them.
struct CrossAttention {
  Linear q, o;
  std::optional<RmsNorm> q_norm;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("q", self.q);
    visit("q_norm", self.q_norm);
    visit("o", self.o);
  }
};

/// A block with attention to the memory between self-attention and MLP. A shared one has no
/// matrices of self-attention and MLP of its own and takes those of an encoder block.
struct DecoderBlock {
  Block block;
  RmsNorm cross_norm;
  CrossAttention cross;
  bool shared = false;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    auto& attn = self.block.attn;
    auto& mlp = self.block.mlp;
    visit("attn_norm", self.block.attn_norm);
    if (!self.shared) {
      visit("attn.q", attn.q);
      visit("attn.k", attn.k);
      visit("attn.v", attn.v);
      visit("attn.o", attn.o);
    }
    visit("attn.q_norm", attn.q_norm);
    visit("attn.k_norm", attn.k_norm);
    visit("cross_norm", self.cross_norm);
    visit("cross", self.cross);
    visit("mlp_norm", self.block.mlp_norm);
    if (!self.shared) visit("mlp", mlp);
  }
};

/// Keys and values that the encoder's output gives to all decoder blocks: k and v [D, D].
struct Memory {
  RmsNorm norm;
  Linear k, v;
  std::optional<RmsNorm> k_norm;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("norm", self.norm);
    visit("k", self.k);
    visit("v", self.v);
    visit("k_norm", self.k_norm);
  }
};

/// How the register enters the decoder's input: u = e + α σ(W_g [e ; r] + b_g) ⊙ W_s r with
/// r = RMSNorm(register). The register starts as `initial`.
struct Merge {
  struct Gate {
    Parameter weight, bias;

    template <typename Self, typename Visit>
    static void fields(Self& self, Visit&& visit) {
      visit("weight", self.weight);
      visit("bias", self.bias);
    }
  };

  RmsNorm norm;
  Gate gate;
  Linear state;
  Parameter initial;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("norm", self.norm);
    visit("gate", self.gate);
    visit("state", self.state);
    visit("initial", self.initial);
  }
};

DecoderBlock make_decoder_block(const ModelConfig& config);
Memory make_memory(const ModelConfig& config);
Merge make_merge(const ModelConfig& config);

/// A decoder block's weights; see PackedBlock.
struct PackedDecoderBlock {
  PackedBlock block;
  Tensor cross_norm, cross_q_norm;
  Weight cross_q, cross_o;

  void append_to(std::vector<Tensor>& list) const;
  [[nodiscard]] PackedDecoderBlock rebuilt(const std::vector<Tensor>& list,
                                           std::size_t& next) const;
};

/// `lender` is the encoder block whose matrices a shared decoder block uses.
PackedDecoderBlock pack(const DecoderBlock& decoder, const Block* lender);

/// The merge with the gate's two halves apart: what acts on e needs no register and is computed for
/// many tokens at once, what acts on r is one product with the projection of the state.
struct PackedMerge {
  Tensor norm, bias, initial;
  Weight gate_of_e, gate_and_state;

  void append_to(std::vector<Tensor>& list) const;
  [[nodiscard]] PackedMerge rebuilt(const std::vector<Tensor>& list, std::size_t& next) const;
};

PackedMerge pack(const Merge& merge);

/// Keys and values of the memory [B, H, S, K]; of sequences one after the other [N, H, K].
struct MemoryKv {
  Tensor k_BHSK, v_BHSK;
  /// Where their gradients are added up, of the same shapes; undefined = autograd passes them on.
  Tensor k_gradient, v_gradient;

  /// What a token at position `count` − 1 sees.
  [[nodiscard]] MemoryKv first(std::int64_t count) const;
};

/// What e_BTD adds to the memory, positions as in context.rotary.
MemoryKv memory_of(const Memory& memory, const Tensor& e_BTD, const BlockContext& context);

}  // namespace rondo
