// Encoder, memory and core on the next tokens.
#include "model/rlt_session.h"

#include <algorithm>

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
  const auto before = position(), count = tokens_BT.size(1), end = before + count;
  const auto& table = setting_.rotary.cos;
  // Twice what is needed, so that reading token by token makes few tables.
  if (!table.defined() || table.size(0) < end)
    setting_.rotary = make_rotary(model_.config, std::max<std::int64_t>(64, 2 * end),
                                  model_.embed.weight.value.scalar_type());
  const BlockContext context{.config = model_.config,
                             .rotary = part_of(setting_.rotary, before, count),
                             .allowed_BTT = {},
                             .form = setting_.form};
  auto e_BTD = at::embedding(model_.embed.weight.value, tokens_BT);
  for (std::size_t i = 0; i < encoder_.size(); ++i) {
    const auto [q, k, v] = query_key_value(encoder_[i], e_BTD, context);
    auto& kv = encoder_kv_[i];
    append(kv.k_BGSK, k.transpose(1, 2));
    append(kv.v_BGSK, v.transpose(1, 2));
    const auto seen = cached_attention(q, kv.k_BGSK, kv.v_BGSK, before, /*window=*/0, context.form);
    e_BTD = feed_forward(encoder_[i], e_BTD + project(seen, encoder_[i].o), context);
  }
  if (model_.memory) {
    const auto more = memory_of(*model_.memory, e_BTD, context);
    append(memory_.k_BHSK, more.k_BHSK);
    append(memory_.v_BHSK, more.v_BHSK);
  }
  return run_core(weights_, setting_, e_BTD, memory_, state_);
}

}  // namespace rondo
