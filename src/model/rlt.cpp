// Building and running the recurrent looped transformer.
#include "model/rlt.h"

#include "nn/rotary.h"

namespace rondo {
namespace {

/// What the head reads.
Tensor normed_state(const Rlt& model, const Tensor& state_BTD) {
  return rms_norm(state_BTD, model.final_norm.weight.value, model.config.norm_eps, model.form);
}

const Tensor& head_weight(const Rlt& model) {
  return model.head ? model.head->weight.value : model.embed.weight.value;
}

/// The table's row for each position of sequences one after the other.
RotaryTable rotary_of(const RotaryTable& table, const std::vector<std::int64_t>& lengths) {
  std::vector<Tensor> places;
  for (const auto length : lengths) places.push_back(at::arange(length, at::kLong));
  const auto all = at::cat(places);
  return {table.cos.index_select(0, all), table.sin.index_select(0, all)};
}

}  // namespace

Rlt make_rlt(const ModelConfig& config) {
  Rlt model{.config = config,
            .embed = make_linear(config.vocab, config.d_model, Role::kEmbedding),
            .encoder = {},
            .memory = {},
            .merge = {},
            .decoder = {},
            .final_norm = make_norm(config.d_model),
            .head = {}};
  model.encoder.assign(static_cast<std::size_t>(config.encoder_layers), make_block(config));
  model.decoder.assign(static_cast<std::size_t>(config.decoder_layers), make_decoder_block(config));
  if (config.decoder_layers > 0) model.memory = make_memory(config);
  if (config.feedback_interval != 0) model.merge = make_merge(config);
  if (!config.tied_head) model.head = make_linear(config.vocab, config.d_model, Role::kHead);
  return model;
}

CoreWeights pack_core(const Rlt& model) {
  CoreWeights weights;
  if (model.merge) weights.merge = pack(*model.merge);
  for (std::size_t i = 0; i < model.decoder.size(); ++i)
    weights.decoder.push_back(
        pack(model.decoder[i], model.decoder[i].shared ? &model.encoder[i] : nullptr));
  return weights;
}

Tensor logits_of(const Rlt& model, const Tensor& state_BTD) {
  return shape_logits(project(normed_state(model, state_BTD), head_weight(model)),
                      model.config.logit_scale, model.config.logit_softcap);
}

Tensor summed_loss_of(const Rlt& model, const Tensor& state_BTD, const Tensor& targets_N) {
  return head_loss(normed_state(model, state_BTD).flatten(0, 1), head_weight(model), targets_N,
                   model.config.logit_scale, model.config.logit_softcap, model.form);
}

RltPass::RltPass(const Rlt& model, const Tensor& tokens_BT, std::optional<std::int64_t> interval,
                 std::vector<std::int64_t> lengths)
    : model_(model),
      setting_{
          .config = model.config,
          .rotary = make_rotary(model.config, lengths.empty() ? tokens_BT.size(1) : lengths.front(),
                                model.embed.weight.value.scalar_type()),
          .interval = interval.value_or(model.config.feedback_interval),
          .form = model.form,
          .state_is_cut = false,
          .lengths = std::move(lengths)},
      weights_(pack_core(model)),
      e_BTD_(at::embedding(model.embed.weight.value, tokens_BT)) {
  const auto& each = setting_.lengths;
  const BlockContext context{
      .config = model.config,
      .rotary = each.empty() ? setting_.rotary : rotary_of(setting_.rotary, each),
      .allowed_BTT = {},
      .form = model.form,
      .lengths = each};
  for (const auto& block : model.encoder) e_BTD_ = forward(pack(block), e_BTD_, context);
  if (model.memory) memory_ = memory_of(*model.memory, e_BTD_, context);
}

Tensor RltPass::run() const {
  DecoderState state;
  auto whole = setting_;
  whole.state_is_cut = true;
  return run_core(weights_, whole, e_BTD_, memory_, state);
}

}  // namespace rondo
