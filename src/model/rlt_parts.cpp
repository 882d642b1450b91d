// Making and packing the parts.
#include "model/rlt_parts.h"

#include "tensor/gathering.h"

namespace rondo {
namespace {

std::optional<RmsNorm> qk_gains(const ModelConfig& config) {
  if (config.qk_norm != QkNorm::kGain) return std::nullopt;
  return make_norm(config.head_dim);
}

Tensor value_or_nothing(const std::optional<RmsNorm>& norm) {
  return norm ? norm->weight.value : Tensor();
}

void append_defined(std::vector<Tensor>& list, std::initializer_list<Tensor> tensors) {
  for (const auto& tensor : tensors)
    if (tensor.defined()) list.push_back(tensor);
}

void take_defined(const std::vector<Tensor>& list, std::size_t& next,
                  std::initializer_list<Tensor*> tensors) {
  for (auto* tensor : tensors)
    if (tensor->defined()) *tensor = list[next++];
}

}  // namespace

DecoderBlock make_decoder_block(const ModelConfig& config) {
  const auto width = config.d_model;
  return {.block = make_block(config),
          .cross_norm = make_norm(width),
          .cross = {.q = make_linear(width, width),
                    .o = make_linear(width, width, Role::kResidualOutput),
                    .q_norm = qk_gains(config)},
          .shared = config.share_blocks};
}

Memory make_memory(const ModelConfig& config) {
  const auto width = config.d_model;
  return {.norm = make_norm(width),
          .k = make_linear(width, width),
          .v = make_linear(width, width),
          .k_norm = qk_gains(config)};
}

Merge make_merge(const ModelConfig& config) {
  const auto width = config.d_model;
  return {.norm = make_norm(width),
          .gate = {.weight = {.role = Role::kMergeMatrix, .shape = {width, 2 * width}, .value = {}},
                   .bias = {.role = Role::kBias,
                            .shape = {width},
                            .value = {},
                            .start = config.merge_bias}},
          .state = make_linear(width, width, Role::kMergeMatrix),
          .initial = {.role = Role::kFirstState, .shape = {width}, .value = {}}};
}

PackedDecoderBlock pack(const DecoderBlock& decoder, const Block* lender) {
  auto block = decoder.block;
  if (decoder.shared) {
    block.mlp = lender->mlp;
    block.attn = lender->attn;
    block.attn.q_norm = decoder.block.attn.q_norm;
    block.attn.k_norm = decoder.block.attn.k_norm;
  }
  return {.block = pack(block),
          .cross_norm = decoder.cross_norm.weight.value,
          .cross_q_norm = value_or_nothing(decoder.cross.q_norm),
          .cross_q = prepared(decoder.cross.q.weight.value),
          .cross_o = prepared(decoder.cross.o.weight.value)};
}

void PackedDecoderBlock::append_to(std::vector<Tensor>& list) const {
  block.append_to(list);
  append_defined(list, {cross_norm, cross_q_norm, cross_q.value, cross_o.value});
}

PackedDecoderBlock PackedDecoderBlock::rebuilt(const std::vector<Tensor>& list,
                                               std::size_t& next) const {
  auto packed = *this;
  packed.block = block.rebuilt(list, next);
  take_defined(
      list, next,
      {&packed.cross_norm, &packed.cross_q_norm, &packed.cross_q.value, &packed.cross_o.value});
  return packed;
}

PackedMerge pack(const Merge& merge) {
  const auto halves = merge.gate.weight.value.chunk(2, 1);
  return {.norm = merge.norm.weight.value,
          .bias = merge.gate.bias.value,
          .initial = merge.initial.value,
          .gate_of_e = prepared(halves[0].contiguous()),
          .gate_and_state = prepared(at::cat({halves[1], merge.state.weight.value}))};
}

void PackedMerge::append_to(std::vector<Tensor>& list) const {
  append_defined(list, {norm, bias, initial, gate_of_e.value, gate_and_state.value});
}

PackedMerge PackedMerge::rebuilt(const std::vector<Tensor>& list, std::size_t& next) const {
  auto packed = *this;
  take_defined(list, next,
               {&packed.norm, &packed.bias, &packed.initial, &packed.gate_of_e.value,
                &packed.gate_and_state.value});
  return packed;
}

MemoryKv MemoryKv::first(std::int64_t count) const {
  if (!k_gradient.defined())
    return {k_BHSK.narrow(2, 0, count), v_BHSK.narrow(2, 0, count), {}, {}};
  return {gathering_part(k_BHSK, 2, count, k_gradient),
          gathering_part(v_BHSK, 2, count, v_gradient),
          {},
          {}};
}

MemoryKv memory_of(const Memory& memory, const Tensor& e_BTD, const BlockContext& context) {
  const auto& config = context.config;
  const auto m = rms_norm(e_BTD, memory.norm.weight.value, config.norm_eps, context.form);
  const auto in_heads = [&](const Linear& linear) {
    return project(m, linear.weight.value).unflatten(-1, {config.heads, config.head_dim});
  };
  const auto stored = [&](const Tensor& x_BTHK) {
    return !context.lengths.empty() ? x_BTHK.squeeze(0).contiguous()
                                    : x_BTHK.transpose(1, 2).contiguous();
  };
  return {.k_BHSK = stored(place(in_heads(memory.k), value_or_nothing(memory.k_norm), context)),
          .v_BHSK = stored(in_heads(memory.v)),
          .k_gradient = {},
          .v_gradient = {}};
}

}  // namespace rondo
