// Encoder, memory and core on the next tokens.
#include "model/rlt_session.h"

#include "nn/rotary.h"

namespace rondo {
namespace {

void append(Tensor& all_BGSK, const Tensor& new_BGSK) {
  all_BGSK = all_BGSK.defined() ? at::cat({all_BGSK, new_BGSK}, 2) : new_BGSK;
}

}  // namespace

RltSession::RltSession(const Rlt& model, std::optional<std::int64_t> interval)
    : model_(model),
      setting_{.config = model.config,
               .rotary = {},
               .interval = interval.value_or(model.config.feedback_interval),
               .form = model.form},
      encoder_kv_(model.encoder.size()) {
  const NoGrad guard;
  weights_ = pack_core(model);
  for (const auto& block : model.encoder) encoder_.push_back(pack(block));
}

Tensor RltSession::extend(const Tensor& tokens_BT) {
  const NoGrad guard;
  const auto before = position(), count = tokens_BT.size(1);
  grow(setting_.rotary, model_.config, before + count, model_.embed.weight.value.scalar_type());
  const BlockContext context{.config = model_.config,
                             .rotary = part_of(setting_.rotary, before, count),
                             .allowed_BTT = {},
                             .form = setting_.form};
  auto e_BTD = at::embedding(model_.embed.weight.value, tokens_BT);
  for (std::size_t i = 0; i < encoder_.size(); ++i)
    e_BTD = forward(encoder_[i], e_BTD, context, encoder_kv_[i]);
  if (model_.memory) {
    const auto more = memory_of(*model_.memory, e_BTD, context);
    append(memory_.k_BHSK, more.k_BHSK);
    append(memory_.v_BHSK, more.v_BHSK);
  }
  return run_core(weights_, setting_, e_BTD, memory_, state_);
}

}  // namespace rondo
