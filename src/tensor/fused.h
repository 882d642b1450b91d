// Operations with a backward pass of their own: one pass over memory each, where the library's
// single operations take several. Single precision on the CPU; callers fall back to the composed
// forms in ops.h for everything else.
#pragma once

#include "tensor/ops.h"

namespace rondo::fused {

/// Whether the operations here can take this tensor.
bool suits(const Tensor& x);

/// rondo::rms_norm.
Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps);

/// rondo::swiglu.
Tensor swiglu(const Tensor& gate_up);

/// rondo::rotate.
Tensor rotate(const Tensor& x_BTHK, const RotaryTable& table);

/// rondo::lean.
Tensor lean(const Tensor& base, const Tensor& x, at::TensorList past, at::TensorList factors);

/// rondo::gated_add.
Tensor gated_add(const Tensor& x, const Tensor& branch, const Tensor& gate);

/// rondo::joint_attention without a limit on who sees whom, by oneDNN products on blocks of
/// queries, or in loops of our own where a head has at most 64 positions. Nothing but the joint
/// product and what each row's norm and softmax need is kept; the rest is computed again on the way
/// back (Dao et al., 2022). With `lengths`, sequences of those lengths lie one after the other,
/// [1, N, (H + 2G) K], and the rotary table has a row for each of the N.
Tensor joint_attention(const Tensor& qkv, const Tensor& q_gains, const Tensor& k_gains,
                       const JointHeads& how, const std::vector<std::int64_t>& lengths = {});

/// rms_norm(x) Wᵀ; the normed rows are computed again on the way back instead of being kept.
Tensor norm_project(const Tensor& x, const Tensor& gains, double eps, const Weight& weight);

/// swiglu(gate_up) Wᵀ; likewise.
Tensor swiglu_project(const Tensor& gate_up, const Weight& weight);

/// Σ of the cross-entropies of shape_logits(h_ND Wᵀ); rows whose target is −1 add nothing. Works on
/// some rows at a time and computes the gradients at once, so that [N, V] never exists.
Tensor head_loss(const Tensor& h_ND, const Tensor& weight, const Tensor& targets_N, double scale,
                 double softcap);

}  // namespace rondo::fused
