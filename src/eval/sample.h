// Choosing the next token from a model's logits.
#pragma once

#include <cstdint>
#include <span>

#include "base/rng.h"

namespace rondo {

/// How a token is chosen. The limits apply in this order: temperature, top_k, top_p.
struct Sampling {
  double temperature = 1.0;  ///< logits are divided by it; 0 = always the most probable token
  std::int64_t top_k = 0;    ///< only the so many most probable tokens; 0 = all
  double top_p = 1.0;        ///< of these the fewest whose probabilities sum to so much
  std::uint64_t seed = 0;
};

/// Throws an input error for a negative or infinite temperature, a negative top_k, or a top_p
/// outside (0, 1].
void check(const Sampling& sampling);

/// A token and ln of the probability that the model gives it: softmax of its logits as they are,
/// before temperature and limits.
struct ChosenToken {
  std::int32_t id = 0;
  double log_probability = 0;
};

/// The token for number `index` of a text. A number of the stream (seed, "generate") decides, so
/// the choice depends on nothing else that was ever drawn. Of equally probable tokens the lowest id
/// comes first. Only the first `choices` ids may be chosen. Throws an error of the work for logits
/// that are not finite.
ChosenToken choose_token(std::span<const float> logits, std::int64_t choices,
                         const Sampling& sampling, std::uint64_t index);

}  // namespace rondo
