// Sorting by length and cutting the filling off.
#include "data/uneven.h"

#include <algorithm>
#include <numeric>

namespace rondo {
namespace {

/// Positions of a row up to its last target.
std::int64_t length_of(const Batch& batch, std::int64_t row) {
  auto length = batch.length;
  const auto* targets = batch.targets.data() + row * batch.length;
  while (length > 1 && targets[length - 1] == kNoTarget) --length;
  return length;
}

}  // namespace

UnevenBatch without_filling(const Batch& batch, std::int64_t together) {
  std::vector<std::int64_t> own, order(static_cast<std::size_t>(batch.rows));
  for (std::int64_t row = 0; row < batch.rows; ++row) own.push_back(length_of(batch, row));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
    return own[static_cast<std::size_t>(a)] > own[static_cast<std::size_t>(b)];
  });

  UnevenBatch uneven;
  auto& out = uneven.batch;
  const auto append = [](auto& to, const auto& from, std::int64_t first, std::int64_t count) {
    if (!from.empty()) to.insert(to.end(), from.begin() + first, from.begin() + first + count);
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto leader = order[i - i % static_cast<std::size_t>(together)];
    const auto length = own[static_cast<std::size_t>(leader)], first = order[i] * batch.length;
    append(out.inputs, batch.inputs, first, length);
    append(out.targets, batch.targets, first, length);
    append(out.weights, batch.weights, first, length);
    uneven.lengths.push_back(length);
  }
  out.rows = 1;
  out.length = static_cast<std::int64_t>(out.inputs.size());
  out.tokens = batch.tokens;
  out.predicted = batch.predicted;
  out.bytes = batch.bytes;
  return uneven;
}

}  // namespace rondo
