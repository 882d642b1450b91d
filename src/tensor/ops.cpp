// The models' operations over library kernels.
#include "tensor/ops.h"

#include <cmath>

#include "tensor/fused.h"
#include "tensor/gemm.h"
#include "tensor/profile.h"

namespace rondo {
namespace {

/// [B, T, G, K] → [B, H, T, K], each key/value head repeated for the query heads that share it.
Tensor heads_first(const Tensor& x_BTGK, std::int64_t heads) {
  const auto groups = x_BTGK.size(2);
  auto out = x_BTGK.transpose(1, 2);
  return groups == heads ? out : out.repeat_interleave(heads / groups, 1);
}

/// Softmax attention where `allowed` says who sees whom; undefined = everyone everyone.
Tensor masked_attention(const Tensor& q_BHTK, const Tensor& k_BHSK, const Tensor& v_BHSK,
                        const Tensor& allowed) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(q_BHTK.size(3)));
  auto scores = at::matmul(q_BHTK, k_BHSK.transpose(2, 3)) * scale;
  if (allowed.defined()) scores = scores.masked_fill(allowed.logical_not(), -INFINITY);
  return at::matmul(at::softmax(scores, -1), v_BHSK);
}

Tensor composed_attention(const Tensor& q_BHTK, const Tensor& k_BHTK, const Tensor& v_BHTK,
                          const Tensor& allowed_BTT) {
  const auto length = q_BHTK.size(2);
  auto allowed = at::ones({length, length}, q_BHTK.options().dtype(at::kBool)).tril();
  if (allowed_BTT.defined()) allowed = allowed.logical_and(allowed_BTT).unsqueeze(1);
  return masked_attention(q_BHTK, k_BHTK, v_BHTK, allowed);
}

/// allowed[i, j]: query i, which stands at key before + i, may see key j. Undefined when each sees
/// all keys.
Tensor seen_keys(std::int64_t queries, std::int64_t before, std::int64_t window,
                 const at::TensorOptions& options) {
  const auto keys = before + queries;
  const bool all_in_window = window == 0 || window >= keys;
  if (queries == 1 && all_in_window) return {};
  auto allowed = at::ones({queries, keys}, options.dtype(at::kBool)).tril(before);
  return all_in_window ? allowed : allowed.triu(before - window + 1);
}

Tensor library_attention(const Tensor& q_BHTK, const Tensor& k_BHTK, const Tensor& v_BHTK,
                         const Tensor& allowed_BTT) {
  if (!allowed_BTT.defined())
    return at::scaled_dot_product_attention(q_BHTK, k_BHTK, v_BHTK, {}, 0.0, /*is_causal=*/true);
  const auto length = q_BHTK.size(2);
  const auto causal = at::ones({length, length}, q_BHTK.options().dtype(at::kBool)).tril();
  return at::scaled_dot_product_attention(q_BHTK, k_BHTK, v_BHTK,
                                          causal.logical_and(allowed_BTT).unsqueeze(1), 0.0, false);
}

/// The autograd node behind recomputed().
class Recomputed : public torch::autograd::Function<Recomputed> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context, const TensorFunction& function,
                        at::TensorList inputs) {
    const NoGrad guard;
    context->saved_data["function"] =
        c10::IValue::make_capsule(c10::make_intrusive<Holder>(function));
    context->save_for_backward(inputs.vec());
    return function(inputs.vec());
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list output_gradient) {
    const auto saved = context->get_saved_variables();
    std::vector<Tensor> inputs, wanted;
    for (const auto& tensor : saved) {
      inputs.push_back(tensor.detach().requires_grad_(tensor.requires_grad()));
      if (tensor.requires_grad()) wanted.push_back(inputs.back());
    }
    const auto holder = context->saved_data["function"].toCapsule();
    std::vector<Tensor> found;
    {
      const at::AutoGradMode enable(true);
      const auto output = static_cast<Holder&>(*holder).function(inputs);
      found = gradients({output}, wanted, {output_gradient[0]});
    }
    torch::autograd::variable_list result = {Tensor()};  // no gradient for the function itself
    std::size_t next = 0;
    for (const auto& tensor : saved)
      result.push_back(tensor.requires_grad() ? found[next++] : Tensor());
    return result;
  }

 private:
  struct Holder : torch::CustomClassHolder {
    explicit Holder(TensorFunction f) : function(std::move(f)) {}
    TensorFunction function;
  };
};

std::optional<Tensor> known(const Tensor& factor) {
  return factor.defined() ? std::optional(factor) : std::nullopt;
}

/// x Wᵀ with the products of tensor/gemm.
class Project : public torch::autograd::Function<Project> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& input,
                        const Tensor& weight, const std::optional<Tensor>& known_factor) {
    const auto x = as_factor(input), factor = known_factor ? *known_factor : as_factor(weight);
    context->save_for_backward({x, factor});
    auto shape = x.sizes().vec();
    shape.back() = weight.size(0);
    auto out = at::empty(shape, input.options());
    auto rows = out.view({-1, weight.size(0)});
    multiply(flat(x), factor.t(), rows);
    return out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list output_gradient) {
    const auto saved = context->get_saved_variables();
    const auto& x = saved[0];
    const auto& weight = saved[1];
    const auto all_fp32 = output_gradient[0].options();
    const auto slope = as_factor(flat(output_gradient[0]));
    torch::autograd::variable_list result(3);
    if (context->needs_input_grad(0)) {
      result[0] = at::empty(x.sizes(), all_fp32);
      auto rows = result[0].view({-1, x.size(-1)});
      multiply(slope, weight, rows);
    }
    if (context->needs_input_grad(1)) {
      result[1] = at::empty(weight.sizes(), all_fp32);
      multiply(slope.t(), flat(x), result[1]);
    }
    return result;
  }

 private:
  static Tensor flat(const Tensor& x) { return x.reshape({-1, x.size(-1)}); }
};

}  // namespace

Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps, Form form) {
  const ProfileScope scope(Part::kElementwise);
  if (form == Form::kFused && fused::suits(x)) return fused::rms_norm(x, weight, eps);
  if (form == Form::kFused)
    return at::rms_norm(x, {x.size(-1)}, weight.defined() ? std::optional(weight) : std::nullopt,
                        eps);
  const auto scaled = x * (x.square().mean(-1, /*keepdim=*/true) + eps).rsqrt();
  return weight.defined() ? scaled * weight : scaled;
}

RotaryTable part_of(const RotaryTable& table, std::int64_t first, std::int64_t count) {
  return {.cos = table.cos.narrow(0, first, count), .sin = table.sin.narrow(0, first, count)};
}

Tensor rotate(const Tensor& x_BTHK, const RotaryTable& table, Form form) {
  const ProfileScope scope(Part::kElementwise);
  if (form == Form::kFused && fused::suits(x_BTHK)) return fused::rotate(x_BTHK, table);
  const auto half = x_BTHK.size(3) / 2, length = x_BTHK.size(1);
  const auto cos = table.cos.narrow(0, 0, length).unsqueeze(1).to(x_BTHK.dtype());
  const auto sin = table.sin.narrow(0, 0, length).unsqueeze(1).to(x_BTHK.dtype());
  const auto first = x_BTHK.narrow(3, 0, half), second = x_BTHK.narrow(3, half, half);
  return at::cat({first * cos - second * sin, second * cos + first * sin}, -1);
}

Tensor place_heads(const Tensor& x_BTHK, const Tensor& gains, const JointHeads& how, Form form) {
  const auto norm = [&](const Tensor& x) { return rms_norm(x, gains, how.eps, form); };
  if (how.norm && how.norm_first) return rotate(norm(x_BTHK), how.rotary, form);
  const auto turned = rotate(x_BTHK, how.rotary, form);
  return how.norm ? norm(turned) : turned;
}

std::array<Tensor, 3> split_heads(const Tensor& qkv, const Tensor& q_gains, const Tensor& k_gains,
                                  const JointHeads& how, Form form) {
  const auto all = qkv.unflatten(-1, {how.heads + 2 * how.groups, -1});
  return {place_heads(all.narrow(2, 0, how.heads), q_gains, how, form),
          place_heads(all.narrow(2, how.heads, how.groups), k_gains, how, form),
          all.narrow(2, how.heads + how.groups, how.groups)};
}

Tensor joint_attention(const Tensor& qkv, const Tensor& q_gains, const Tensor& k_gains,
                       const JointHeads& how, const Tensor& allowed_BTT, Form form) {
  if (form == Form::kFused && fused::suits(qkv) && !allowed_BTT.defined() &&
      gemm_in_use() == Gemm::kOneDnn)
    return fused::joint_attention(qkv, q_gains, k_gains, how);
  const auto [q, k, v] = split_heads(qkv, q_gains, k_gains, how, form);
  return causal_attention(q, k, v, allowed_BTT, form);
}

Tensor causal_attention(const Tensor& q_BTHK, const Tensor& k_BTGK, const Tensor& v_BTGK,
                        const Tensor& allowed_BTT, Form form) {
  const ProfileScope scope(Part::kAttention);
  const auto heads = q_BTHK.size(2);
  const auto attend = form == Form::kFused ? library_attention : composed_attention;
  const auto out_BHTK = attend(q_BTHK.transpose(1, 2), heads_first(k_BTGK, heads),
                               heads_first(v_BTGK, heads), allowed_BTT);
  return out_BHTK.transpose(1, 2).flatten(2);
}

Tensor cached_attention(const Tensor& q_BTHK, const Tensor& k_BGSK, const Tensor& v_BGSK,
                        std::int64_t before, std::int64_t window, Form form) {
  const ProfileScope scope(Part::kAttention);
  const auto repeats = q_BTHK.size(2) / k_BGSK.size(1);
  if (repeats > 1 && q_BTHK.size(1) == 1 && (window == 0 || window > before)) {
    // One position that sees all keys: the queries of a key's head stand side by side as if they
    // were positions, and no key is copied.
    const auto q_BGRK = q_BTHK.reshape({q_BTHK.size(0), k_BGSK.size(1), repeats, q_BTHK.size(3)});
    const auto read_BGRK = form == Form::kFused ? at::scaled_dot_product_attention(
                                                      q_BGRK, k_BGSK, v_BGSK, {}, 0.0, false)
                                                : masked_attention(q_BGRK, k_BGSK, v_BGSK, {});
    return read_BGRK.reshape({q_BTHK.size(0), 1, -1});
  }
  const auto for_queries = [&](const Tensor& x_BGSK) {
    return repeats == 1 ? x_BGSK : x_BGSK.repeat_interleave(repeats, 1);
  };
  const auto q = q_BTHK.transpose(1, 2), k = for_queries(k_BGSK), v = for_queries(v_BGSK);
  const auto allowed = seen_keys(q_BTHK.size(1), before, window, q_BTHK.options());
  const std::optional<Tensor> mask = allowed.defined() ? std::optional(allowed) : std::nullopt;
  const auto out_BHTK = form == Form::kFused
                            ? at::scaled_dot_product_attention(q, k, v, mask, 0.0, false)
                            : masked_attention(q, k, v, allowed);
  return out_BHTK.transpose(1, 2).flatten(2);
}

Tensor swiglu(const Tensor& gate_up, Form form) {
  const ProfileScope scope(Part::kElementwise);
  if (form == Form::kFused && fused::suits(gate_up)) return fused::swiglu(gate_up);
  const auto parts = gate_up.chunk(2, -1);
  return at::silu(parts[0]) * parts[1];
}

Weight prepared(const Tensor& matrix) {
  const NoGrad guard;
  Weight weight(matrix);
  weight.factor = as_factor(matrix.detach());
  return weight;
}

Tensor project(const Tensor& x, const Weight& weight) {
  const ProfileScope scope(Part::kProducts);
  const bool by_library = gemm_in_use() == Gemm::kLibtorch && !factors_are_bf16();
  if (by_library || x.scalar_type() != at::kFloat || x.numel() == 0)
    return at::linear(x, weight.value);
  return Project::apply(x, weight.value, known(weight.factor));
}

Tensor lean(const Tensor& base, const Tensor& x, at::TensorList past, at::TensorList factors,
            Form form) {
  const ProfileScope scope(Part::kElementwise);
  if (form == Form::kFused && fused::suits(x)) return fused::lean(base, x, past, factors);
  auto out = base;
  for (std::size_t j = 0; j < past.size(); ++j) out = out + factors[j] * (past[j] - x);
  return out;
}

Tensor gated_add(const Tensor& x, const Tensor& branch, const Tensor& gate, Form form) {
  const ProfileScope scope(Part::kElementwise);
  if (form == Form::kFused && fused::suits(x)) return fused::gated_add(x, branch, gate);
  return x + gate * branch;
}

Tensor shape_logits(const Tensor& logits, double scale, double softcap) {
  const auto scaled = scale == 1.0 ? logits : logits * scale;
  return softcap == 0.0 ? scaled : (scaled / softcap).tanh() * softcap;
}

Tensor cross_entropy(const Tensor& logits_NV, const Tensor& targets_N) {
  return at::cross_entropy_loss(logits_NV, targets_N, {}, at::Reduction::None, /*ignore_index=*/-1);
}

Tensor norm_project(const Tensor& x, const Tensor& gains, double eps, const Weight& weight,
                    Form form) {
  if (form == Form::kFused && fused::suits(x)) return fused::norm_project(x, gains, eps, weight);
  return project(rms_norm(x, gains, eps, form), weight);
}

Tensor swiglu_project(const Tensor& gate_up, const Weight& weight, Form form) {
  if (form == Form::kFused && fused::suits(gate_up)) return fused::swiglu_project(gate_up, weight);
  return project(swiglu(gate_up, form), weight);
}

Tensor head_loss(const Tensor& h_ND, const Tensor& weight, const Tensor& targets_N, double scale,
                 double softcap, Form form) {
  const ProfileScope scope(Part::kHead);
  if (form == Form::kFused && fused::suits(h_ND))
    return fused::head_loss(h_ND, weight, targets_N, scale, softcap);
  return cross_entropy(shape_logits(project(h_ND, weight), scale, softcap), targets_N).sum();
}

Tensor recomputed(const TensorFunction& function, const std::vector<Tensor>& inputs) {
  return Recomputed::apply(function, at::TensorList(inputs));
}

}  // namespace rondo
