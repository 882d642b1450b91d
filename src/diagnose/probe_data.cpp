// Windows and examples, one by one.
#include "diagnose/probe_data.h"

#include <memory>
#include <numeric>

#include "base/error.h"
#include "eval/loss.h"

namespace rondo {
namespace {

Tensor ids_of(const std::vector<std::int32_t>& ids) { return token_tensor(ids, 1); }

void require_enough(const ProbeSequences& all, std::int64_t positions, const std::string& name) {
  require(positions <= all.positions,
          "--positions {}: {} has {}; ask for at most as many, or give other data", positions, name,
          all.positions);
}

}  // namespace

ProbeSequences text_sequences(const ValidationSet& set, std::int64_t positions,
                              const std::string& name) {
  const auto length = set.length();
  const auto chosen = set.spread((positions + length - 1) / length * length);
  ProbeSequences all;
  all.count = chosen.windows();
  all.get = [chosen](std::int64_t n) {
    const auto batch = chosen.batch(n, 1);
    ProbeSequence sequence{.input = make_input(batch), .targets_S = make_targets(batch)};
    sequence.input.sample_keys = {kEvaluationKeys + static_cast<std::uint64_t>(n)};
    return cut(std::move(sequence), batch.tokens);
  };
  for (std::int64_t n = 0; n < all.count; ++n) all.positions += chosen.batch(n, 1).tokens;
  require_enough(all, positions, name);
  return positions == 0 ? all : first_positions(all, positions);
}

ProbeSequences task_sequences(std::vector<TaskSample> samples, std::int64_t positions,
                              const std::string& name) {
  const auto count = samples.size();
  // Lengths come in order, and steps of the golden ratio visit all of them early.
  auto stride = static_cast<std::size_t>(0.618 * static_cast<double>(count)) + 1;
  while (std::gcd(stride, count) != 1) ++stride;
  ProbeSequences all;
  all.count = static_cast<std::int64_t>(count);
  for (const auto& sample : samples)
    all.positions += static_cast<std::int64_t>(sample.tokens.size());
  all.get = [held = std::make_shared<const std::vector<TaskSample>>(std::move(samples)), count,
             stride](std::int64_t n) {
    const auto& sample = (*held)[static_cast<std::size_t>(n) * stride % count];
    ProbeSequence sequence;
    sequence.input.tokens_BT = ids_of(sample.tokens);
    sequence.input.sample_keys = {kEvaluationKeys + static_cast<std::uint64_t>(n)};
    sequence.targets_S = ids_of(sample.targets).flatten();
    return sequence;
  };
  require_enough(all, positions, name);
  return positions == 0 ? all : first_positions(all, positions);
}

}  // namespace rondo
