// What the probes read: sequences one by one, so that no more than one's states are ever held.
#pragma once

#include <functional>

#include "model/looped_lm.h"

namespace rondo {

/// One sequence; all its S positions are selected.
struct ProbeSequence {
  LoopedInput input;  ///< tokens [1, S]
  Tensor targets_S;   ///< int64; −1 where nothing is predicted

  [[nodiscard]] std::int64_t positions() const { return targets_S.size(0); }
};

/// Sequences that are made when they are asked for.
struct ProbeSequences {
  std::int64_t count = 0;
  std::int64_t positions = 0;  ///< of all of them
  std::function<ProbeSequence(std::int64_t number)> get;
};

/// The first of `sequences` that have at most `positions` positions together, the last one cut
/// short where it must be. Positions see none after them, so that a cut changes no value.
ProbeSequences first_positions(const ProbeSequences& sequences, std::int64_t positions);

/// The first `count` sequences, or all where there are fewer.
ProbeSequences first_sequences(const ProbeSequences& sequences, std::int64_t count);

/// The first `positions` positions of a sequence.
ProbeSequence cut(ProbeSequence sequence, std::int64_t positions);

}  // namespace rondo
