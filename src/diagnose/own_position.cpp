// The loop of single positions, in the composed form of its parts.
#include "diagnose/own_position.h"

#include <cmath>
#include <limits>

#include "nn/rotary.h"

namespace rondo {

OwnPosition::OwnPosition(const LoopedLm& model, const LoopedInput& input, const Tensor& e_BTD,
                         std::int64_t loops, Tensor positions_P)
    : model_(model), positions_P_(std::move(positions_P)) {
  const auto length = input.tokens_BT.size(1);
  all_ = {.config = model.config,
          .rotary = make_rotary(model.config, length, model.embed.weight.value.scalar_type()),
          .allowed_BTT = {},
          .form = Form::kComposed};
  chosen_ = all_;
  chosen_.rotary = {all_.rotary.cos.index_select(0, positions_P_),
                    all_.rotary.sin.index_select(0, positions_P_)};
  // Its own key is no constant: it is put beside those of the earlier positions.
  hidden_PT_ = at::arange(length, at::kLong).unsqueeze(0) >= positions_P_.unsqueeze(1);
  if (input.documents_BT.defined()) {
    const auto documents_T = input.documents_BT.squeeze(0);
    hidden_PT_ = hidden_PT_ | (documents_T.index_select(0, positions_P_).unsqueeze(1) !=
                               documents_T.unsqueeze(0));
  }
  for (const auto& block : model.core) core_.push_back(pack(block));
  parts_ = {.inject = prepare(model.inject, chosen(e_BTD)),
            .history = prepare(model.history, model.config.d_model),
            .time = prepare(model.timestep, model.config, time_grid(model.config, loops)),
            .norm = model.loop_norm ? model.loop_norm->weight.value : Tensor()};
}

Tensor OwnPosition::block(std::size_t layer, const BranchGates& gates, const Tensor& before_BTD,
                          const Tensor& x_PD) const {
  auto weights = core_[layer];
  if (gates.scale[0].defined()) weights.attn_norm = weights.attn_norm * gates.scale[0];
  const auto cached = query_key_value(weights, before_BTD, all_);
  const auto own = query_key_value(weights, x_PD.unsqueeze(0), chosen_);
  const auto& config = model_.config;
  const auto repeats = config.heads / config.kv_heads;
  // [H, T or P, K] from [1, T or P, G, K].
  const auto heads = [&](const Tensor& x, std::int64_t times) {
    return x.squeeze(0).repeat_interleave(times, 1).transpose(0, 1);
  };
  const auto q_HPK = heads(own[0], 1), k_HPK = heads(own[1], repeats),
             v_HPK = heads(own[2], repeats);
  const auto k_HTK = heads(cached[1], repeats), v_HTK = heads(cached[2], repeats);
  const double scale = 1.0 / std::sqrt(static_cast<double>(config.head_dim));
  const auto others_HPT = at::matmul(q_HPK, k_HTK.transpose(1, 2))
                              .masked_fill(hidden_PT_, -std::numeric_limits<double>::infinity());
  const auto scores = at::cat({others_HPT, (q_HPK * k_HPK).sum(-1, true)}, -1) * scale;
  const auto shares = at::softmax(scores, -1);
  const auto length = k_HTK.size(1);
  const auto mixed_HPK =
      at::matmul(shares.narrow(-1, 0, length), v_HTK) + shares.narrow(-1, length, 1) * v_HPK;
  auto branch_PD = project(mixed_HPK.transpose(0, 1).flatten(1), weights.o);
  if (gates.gate[0].defined()) branch_PD = gates.gate[0] * branch_PD;
  return feed_forward(weights, x_PD + branch_PD, chosen_, gates);
}

Tensor OwnPosition::chosen(const Tensor& x_BTD) const {
  return x_BTD.squeeze(0).index_select(0, positions_P_);
}

Tensor OwnPosition::run(const LoopInside& inside, const Tensor& h_PD) const {
  LoopPoint point{h_PD, inside.point.loop, {}};
  for (const auto& state : inside.point.past) point.past.push_back(chosen(state));
  return one_loop(parts_, point, chosen_, [&](Tensor x_PD, const std::vector<BranchGates>& gates) {
    for (std::size_t layer = 0; layer < core_.size(); ++layer)
      x_PD = block(layer, gates.empty() ? BranchGates{} : gates[layer], inside.before[layer], x_PD);
    return x_PD;
  });
}

}  // namespace rondo
