// Selecting positions.
#include "diagnose/sequences.h"

#include <algorithm>

namespace rondo {

ProbeSequence cut(ProbeSequence sequence, std::int64_t positions) {
  if (positions >= sequence.positions()) return sequence;
  auto& input = sequence.input;
  input.tokens_BT = input.tokens_BT.narrow(1, 0, positions);
  if (input.documents_BT.defined()) input.documents_BT = input.documents_BT.narrow(1, 0, positions);
  sequence.targets_S = sequence.targets_S.narrow(0, 0, positions);
  return sequence;
}

ProbeSequences first_positions(const ProbeSequences& sequences, std::int64_t positions) {
  if (positions >= sequences.positions) return sequences;
  ProbeSequences chosen;
  std::int64_t last = 0;
  while (chosen.positions < positions) {
    const auto size = sequences.get(chosen.count).positions();
    last = std::min(size, positions - chosen.positions);
    chosen.positions += last;
    ++chosen.count;
  }
  chosen.get = [get = sequences.get, count = chosen.count, last](std::int64_t number) {
    auto sequence = get(number);
    return number + 1 == count ? cut(std::move(sequence), last) : sequence;
  };
  return chosen;
}

ProbeSequences first_sequences(const ProbeSequences& sequences, std::int64_t count) {
  ProbeSequences chosen{
      .count = std::min(count, sequences.count), .positions = 0, .get = sequences.get};
  for (std::int64_t n = 0; n < chosen.count; ++n) chosen.positions += sequences.get(n).positions();
  return chosen;
}

}  // namespace rondo
