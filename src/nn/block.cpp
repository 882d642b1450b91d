// Building, packing and running a block.
#include "nn/block.h"

#include "nn/kv_cache.h"
#include "tensor/fused.h"

namespace rondo {
namespace {

constexpr std::int64_t kPad = 16;

/// `weight` [out, in] with rows of zeros up to a multiple of kPad.
Tensor pad_rows(const Tensor& weight) {
  const auto extra = (kPad - weight.size(0) % kPad) % kPad;
  return extra == 0 ? weight : at::constant_pad_nd(weight, {0, 0, 0, extra});
}

/// `weight` [out, in] with columns of zeros up to a multiple of kPad.
Tensor pad_columns(const Tensor& weight) {
  const auto extra = (kPad - weight.size(1) % kPad) % kPad;
  return extra == 0 ? weight : at::constant_pad_nd(weight, {0, extra});
}

Tensor gains_of(const std::optional<RmsNorm>& norm) { return norm ? norm->weight.value : Tensor(); }

JointHeads heads_of(const BlockContext& context) {
  const auto& config = context.config;
  return {.heads = config.heads,
          .groups = config.kv_heads,
          .rotary = context.rotary,
          .norm = config.qk_norm != QkNorm::kNone,
          .norm_first = config.qk_norm_order == QkNormOrder::kBeforeRope,
          .eps = config.norm_eps};
}

/// Gains times a branch's scale: what scales the normed rows costs nothing on top of the gains.
Tensor scaled(const Tensor& gains, const Tensor& scale) {
  return scale.defined() ? gains * scale : gains;
}

/// x + gate ⊙ branch.
Tensor add_branch(const Tensor& x_BTD, const Tensor& branch_BTD, const Tensor& gate, Form form) {
  return gate.defined() ? gated_add(x_BTD, branch_BTD, gate, form) : x_BTD + branch_BTD;
}

Tensor joint_product(const PackedBlock& block, const Tensor& gains, const Tensor& x_BTD,
                     const BlockContext& context) {
  return norm_project(x_BTD, gains, context.config.norm_eps, block.qkv, context.form);
}

/// Queries, keys and values out of their joint product, ready to be compared.
std::array<Tensor, 3> split_joint(const PackedBlock& block, const Tensor& joint,
                                  const BlockContext& context) {
  return split_heads(joint, block.q_norm, block.k_norm, heads_of(context), context.form);
}

/// Attention of the normed x_BTD.
Tensor attend(const PackedBlock& block, const Tensor& x_BTD, const BlockContext& context,
              const Tensor& scale) {
  const auto gains = scaled(block.attn_norm, scale);
  const auto joint = joint_product(block, gains, x_BTD, context);
  const auto how = heads_of(context);
  if (!context.lengths.empty())
    return project(fused::joint_attention(joint, block.q_norm, block.k_norm, how, context.lengths),
                   block.o);
  return project(
      joint_attention(joint, block.q_norm, block.k_norm, how, context.allowed_BTT, context.form),
      block.o);
}

}  // namespace

Linear make_linear(std::int64_t out, std::int64_t in, Role role) {
  return {.weight = {.role = role, .shape = {out, in}, .value = {}}};
}

RmsNorm make_norm(std::int64_t width) {
  return {.weight = {.role = Role::kGain, .shape = {width}, .value = {}, .start = 1.0}};
}

Block make_block(const ModelConfig& config) {
  const auto width = config.d_model, queries = config.heads * config.head_dim,
             keys = config.kv_heads * config.head_dim;
  Block block{
      .attn_norm = make_norm(width),
      .attn = {.q = make_linear(queries, width),
               .k = make_linear(keys, width),
               .v = make_linear(keys, width),
               .o = make_linear(width, queries, Role::kResidualOutput),
               .q_norm = {},
               .k_norm = {}},
      .mlp_norm = make_norm(width),
      .mlp = {.gate = make_linear(config.d_ff, width),
              .up = make_linear(config.d_ff, width),
              .down = make_linear(width, config.d_ff, Role::kResidualOutput)},
  };
  if (config.qk_norm == QkNorm::kGain) {
    block.attn.q_norm = make_norm(config.head_dim);
    block.attn.k_norm = make_norm(config.head_dim);
  }
  return block;
}

PackedBlock pack(const Block& block) {
  const auto& attn = block.attn;
  const auto& mlp = block.mlp;
  return {
      .attn_norm = block.attn_norm.weight.value,
      .q_norm = gains_of(attn.q_norm),
      .k_norm = gains_of(attn.k_norm),
      .mlp_norm = block.mlp_norm.weight.value,
      .qkv = prepared(at::cat({attn.q.weight.value, attn.k.weight.value, attn.v.weight.value})),
      .o = prepared(attn.o.weight.value),
      .gate_up =
          prepared(at::cat({pad_rows(mlp.gate.weight.value), pad_rows(mlp.up.weight.value)})),
      .down = prepared(pad_columns(mlp.down.weight.value)),
  };
}

void PackedBlock::append_to(std::vector<Tensor>& list) const {
  for (const auto& tensor :
       {attn_norm, q_norm, k_norm, mlp_norm, qkv.value, o.value, gate_up.value, down.value})
    if (tensor.defined()) list.push_back(tensor);
}

PackedBlock PackedBlock::rebuilt(const std::vector<Tensor>& list, std::size_t& next) const {
  PackedBlock block = *this;
  for (Tensor* tensor : {&block.attn_norm, &block.q_norm, &block.k_norm, &block.mlp_norm,
                         &block.qkv.value, &block.o.value, &block.gate_up.value, &block.down.value})
    if (tensor->defined()) *tensor = list[next++];
  return block;
}

Tensor place(const Tensor& x_BTHK, const Tensor& gains, const BlockContext& context) {
  return place_heads(x_BTHK, gains, heads_of(context), context.form);
}

std::array<Tensor, 3> query_key_value(const PackedBlock& block, const Tensor& x_BTD,
                                      const BlockContext& context) {
  return split_joint(block, joint_product(block, block.attn_norm, x_BTD, context), context);
}

Tensor feed_forward(const PackedBlock& block, const Tensor& x_BTD, const BlockContext& context,
                    const BranchGates& gates) {
  const auto gate_up = norm_project(x_BTD, scaled(block.mlp_norm, gates.scale[1]),
                                    context.config.norm_eps, block.gate_up, context.form);
  return add_branch(x_BTD, swiglu_project(gate_up, block.down, context.form), gates.gate[1],
                    context.form);
}

Tensor forward(const PackedBlock& block, const Tensor& x_BTD, const BlockContext& context,
               const BranchGates& gates) {
  const auto attended_BTD =
      add_branch(x_BTD, attend(block, x_BTD, context, gates.scale[0]), gates.gate[0], context.form);
  return feed_forward(block, attended_BTD, context, gates);
}

Tensor forward(const PackedBlock& block, const Tensor& x_BTD, const BlockContext& context,
               KvCache& cache, const BranchGates& gates) {
  const auto gains = scaled(block.attn_norm, gates.scale[0]);
  const auto [q, k, v] = split_joint(block, joint_product(block, gains, x_BTD, context), context);
  const auto before = cache.length();
  cache.append(k, v);
  const auto seen_BTD =
      cached_attention(q, cache.keys(), cache.values(), before, /*window=*/0, context.form);
  const auto attended_BTD =
      add_branch(x_BTD, project(seen_BTD, block.o), gates.gate[0], context.form);
  return feed_forward(block, attended_BTD, context, gates);
}

}  // namespace rondo
