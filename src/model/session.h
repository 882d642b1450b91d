// Reading a text bit by bit with a model of either kind.
#pragma once

#include "model/looped_session.h"
#include "model/model.h"
#include "model/rlt_session.h"

namespace rondo {

/// See LoopedSession and RltSession. The model must outlive it and stay as it is.
class ModelSession {
 public:
  /// `loops` of every token; an RLT, which feeds back at its own interval, has 1.
  ModelSession(const Model& model, std::int64_t loops);

  /// Reads the next tokens of every row; what logits() takes of each, [B, T, D]. No gradients.
  Tensor extend(const Tensor& tokens_BT);

  /// Logits of what extend() gave, or of some of its positions, with scale and soft cap, [B, T, V].
  [[nodiscard]] Tensor logits(const Tensor& read_BTD) const;

 private:
  const Model& model_;
  std::variant<LoopedSession, RltSession> session_;
};

}  // namespace rondo
