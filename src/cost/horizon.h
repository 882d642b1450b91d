// How far back gradients go, part by part, and which tensors are used more than once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"

namespace rondo {

/// What truncation does to one group of tensors.
struct GroupHorizon {
  std::string tensors;   ///< "core.*, inject.*, loop_norm.weight"
  std::int64_t loops;    ///< loops that its gradient passes through or comes from
  bool trained;          ///< false when no gradient arrives at all
  std::string sentence;  ///< for people
};

/// How far back the gradient of a training step goes.
struct GradientHorizon {
  std::int64_t loops;   ///< min(B, T)
  std::int64_t tokens;  ///< the whole sequence, as attention is never cut; of an RLT back through
                        ///< its decoder
  std::vector<GroupHorizon> groups;
};
GradientHorizon gradient_horizon(const Config& config);

/// What of an RLT runs one after the other over a sequence.
struct SequentialStages {
  std::int64_t stages = 0;          ///< decoder blocks in sequence: ⌈S/B⌉ L_D, or L_D for B = 0
  std::int64_t at_every_token = 0;  ///< the same for B = 1: S L_D
  std::int64_t parallel = 0;        ///< the same for B = 0: L_D
  std::int64_t back_propagated = 0;  ///< of `stages`, those that one backward pass goes through
  std::int64_t merges = 0;           ///< ⌈S/B⌉ states fed back, 0 for B = 0
  std::int64_t merges_back = 0;      ///< of `merges`, likewise
};
SequentialStages sequential_stages(const Config& config);

/// Tensors used several times in one pass, or under two names.
struct Sharing {
  std::string tensors;
  std::int64_t uses;
  std::optional<std::string> alias;  ///< the second name of a tied tensor
};
std::vector<Sharing> sharing(const Config& config);

}  // namespace rondo
