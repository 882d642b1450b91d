// Prelude, loops and coda on the next tokens.
#include "model/looped_session.h"

#include "model/looped_step.h"
#include "nn/rotary.h"

namespace rondo {
namespace {

std::vector<PackedBlock> packed(const std::vector<Block>& blocks) {
  std::vector<PackedBlock> result;
  for (const auto& block : blocks) result.push_back(pack(block));
  return result;
}

}  // namespace

LoopedSession::LoopedSession(const LoopedLm& model, std::int64_t loops, LoopedInput streams)
    : model_(model),
      loops_(loops),
      streams_(std::move(streams)),
      prelude_kv_(model.prelude.size()),
      core_kv_(model.core.size() * static_cast<std::size_t>(loops)),
      coda_kv_(model.coda.size()) {
  const NoGrad guard;
  prelude_ = packed(model.prelude);
  core_ = packed(model.core);
  coda_ = packed(model.coda);
  history_ = prepare(model.history, model.config.d_model);
  time_ = prepare(model.timestep, model.config, time_grid(model.config, loops));
}

Tensor LoopedSession::extend(const Tensor& tokens_BT) {
  const NoGrad guard;
  const auto count = tokens_BT.size(1);
  grow(rotary_, model_.config, position_ + count, model_.embed.weight.value.scalar_type());
  const BlockContext context{.config = model_.config,
                             .rotary = part_of(rotary_, position_, count),
                             .allowed_BTT = {},
                             .form = model_.form};
  auto e_BTD = at::embedding(model_.embed.weight.value, tokens_BT);
  for (std::size_t i = 0; i < prelude_.size(); ++i)
    e_BTD = forward(prelude_[i], e_BTD, context, prelude_kv_[i]);
  const LoopParts parts{.inject = prepare(model_.inject, e_BTD),
                        .history = history_,
                        .time = time_,
                        .norm = model_.loop_norm ? model_.loop_norm->weight.value : Tensor()};
  const LoopStep step = [&](const LoopPoint& at, const std::vector<Tensor>&) {
    auto* kv = core_kv_.data() + static_cast<std::size_t>(at.loop) * core_.size();
    return one_loop(parts, at, context, [&](Tensor y_BTD, const std::vector<BranchGates>& gates) {
      for (std::size_t i = 0; i < core_.size(); ++i)
        y_BTD = forward(core_[i], y_BTD, context, kv[i], gates.empty() ? BranchGates{} : gates[i]);
      return y_BTD;
    });
  };
  auto x_BTD = unroll(step, {first_state(model_.config, streams_, e_BTD, position_), 0, {}}, {},
                      {.loops = loops_}, history_.lags.size());
  for (std::size_t i = 0; i < coda_.size(); ++i)
    x_BTD = forward(coda_[i], x_BTD, context, coda_kv_[i]);
  position_ += count;
  return rms_norm(x_BTD, model_.final_norm.weight.value, model_.config.norm_eps, model_.form);
}

Tensor LoopedSession::logits(const Tensor& read_BTD) const {
  const NoGrad guard;
  return head_logits(model_, read_BTD);
}

}  // namespace rondo
