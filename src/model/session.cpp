// Which kind of session a model needs.
#include "model/session.h"

#include "base/error.h"

namespace rondo {

ModelSession::ModelSession(const Model& model, std::int64_t loops)
    : model_(model), session_([&]() -> std::variant<LoopedSession, RltSession> {
        const auto* rlt = std::get_if<Rlt>(&model);
        if (rlt == nullptr) return LoopedSession(std::get<LoopedLm>(model), loops);
        require(loops == 1, "{} loops: an RLT has 1", loops);
        return RltSession(*rlt);
      }()) {}

Tensor ModelSession::extend(const Tensor& tokens_BT) {
  return std::visit([&](auto& held) { return held.extend(tokens_BT); }, session_);
}

Tensor ModelSession::logits(const Tensor& read_BTD) const {
  const NoGrad guard;
  if (const auto* looped = std::get_if<LoopedSession>(&session_)) return looped->logits(read_BTD);
  return logits_of(std::get<Rlt>(model_), read_BTD);
}

}  // namespace rondo
