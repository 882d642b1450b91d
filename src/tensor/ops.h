// The mathematical operations of the models, as free functions. Each says its formula; those that
// have a faster library form keep the composed one beside it as fallback and as oracle of the
// tests.
#pragma once

#include <array>
#include <functional>
#include <utility>

#include "tensor/tensor.h"

namespace rondo {

/// Which form of an operation runs: `engine.fused`.
enum class Form { kFused, kComposed };

/// x / √(mean x² + eps) ⊙ weight over the last dimension. An undefined weight means no gains.
Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps, Form form);

/// Cosines and sines of the rotary angles, each [T, K/2] (Su et al., 2021).
struct RotaryTable {
  Tensor cos, sin;
};

/// The table of `count` positions from `first` on.
RotaryTable part_of(const RotaryTable& table, std::int64_t first, std::int64_t count);

/// Rotates the two halves of a head (the Llama convention): x_BTHK, positions from 0.
Tensor rotate(const Tensor& x_BTHK, const RotaryTable& table, Form form);

/// Heads in a joint product [B, T, (H + 2G) K] of queries, keys and values, and how queries and
/// keys become comparable: RoPE, and QK-norm before or after it if any.
struct JointHeads {
  std::int64_t heads, groups;
  RotaryTable rotary;
  bool norm = false, norm_first = false;
  double eps = 0;
};

/// x_BTHK normed and rotated; `gains` [K] may be undefined.
Tensor place_heads(const Tensor& x_BTHK, const Tensor& gains, const JointHeads& how, Form form);

/// q_BTHK, k_BTGK and v_BTGK out of their joint product, placed.
std::array<Tensor, 3> split_heads(const Tensor& qkv, const Tensor& q_gains, const Tensor& k_gains,
                                  const JointHeads& how, Form form);

/// causal_attention() of what is in a joint product.
Tensor joint_attention(const Tensor& qkv, const Tensor& q_gains, const Tensor& k_gains,
                       const JointHeads& how, const Tensor& allowed_BTT, Form form);

/// Causal softmax attention with scores scaled by 1/√K. q_BTHK; k_BTGK, v_BTGK, where query head h
/// reads key/value head ⌊h / (H / G)⌋. `allowed_BTT` (bool, optional) further limits who sees whom.
/// Returns [B, T, H·K].
Tensor causal_attention(const Tensor& q_BTHK, const Tensor& k_BTGK, const Tensor& v_BTGK,
                        const Tensor& allowed_BTT, Form form);

/// Softmax attention of queries that follow `before` of the keys: query i stands at key before + i
/// and sees the keys up to there, of these the last `window` ones (0 = all). q_BTHK; k_BGSK, v_BGSK
/// with before + T keys, heads before positions so that a cache grows along one dimension.
/// Returns [B, T, H·K].
Tensor cached_attention(const Tensor& q_BTHK, const Tensor& k_BGSK, const Tensor& v_BGSK,
                        std::int64_t before, std::int64_t window, Form form);

/// silu(gate) ⊙ up (Shazeer, 2020); `gate_up` holds both side by side in the last dimension.
Tensor swiglu(const Tensor& gate_up, Form form);

/// A weight [out, in] of products, with what all products of one pass share of it.
struct Weight {
  Tensor value;   ///< what gradients flow to
  Tensor factor;  ///< `value` as products take it (tensor/gemm.h); undefined = made each time

  Weight() = default;
  Weight(Tensor matrix) : value(std::move(matrix)) {}  // NOLINT(google-explicit-constructor)
};

/// `matrix` with its factor. For weights that several products of a pass use.
Weight prepared(const Tensor& matrix);

/// x Wᵀ over the last dimension.
Tensor project(const Tensor& x, const Weight& weight);

/// rms_norm(x) Wᵀ.
Tensor norm_project(const Tensor& x, const Tensor& gains, double eps, const Weight& weight,
                    Form form);

/// swiglu(gate_up) Wᵀ.
Tensor swiglu_project(const Tensor& gate_up, const Weight& weight, Form form);

/// base + Σ_j factors_j ⊙ (past_j − x): `base` moved from x towards other states. One factor [D] a
/// state; at least one of them.
Tensor lean(const Tensor& base, const Tensor& x, at::TensorList past, at::TensorList factors,
            Form form);

/// x + gate ⊙ branch, gate [D].
Tensor gated_add(const Tensor& x, const Tensor& branch, const Tensor& gate, Form form);

/// Logits after scale and soft cap: c tanh(scale · z / c), or scale · z when `softcap` is 0.
Tensor shape_logits(const Tensor& logits, double scale, double softcap);

/// Cross-entropy in nats of each row: logits_NV, targets_N (int64). Returns [N]; 0 where the target
/// is −1.
Tensor cross_entropy(const Tensor& logits_NV, const Tensor& targets_N);

/// Σ_N of the cross-entropies of shape_logits(h_ND Wᵀ), in nats.
Tensor head_loss(const Tensor& h_ND, const Tensor& weight, const Tensor& targets_N, double scale,
                 double softcap, Form form);

/// Runs `function(inputs)` now without keeping its intermediate results, and runs it again in the
/// backward pass (Chen et al., 2016). `function` must depend on nothing else that needs gradients
/// and must return the same both times.
using TensorFunction = std::function<Tensor(const std::vector<Tensor>& inputs)>;
Tensor recomputed(const TensorFunction& function, const std::vector<Tensor>& inputs);

}  // namespace rondo
