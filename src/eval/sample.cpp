// Temperature, top-k and top-p on one row of logits.
#include "eval/sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.h"

namespace rondo {
namespace {

/// ln Σ exp of all logits. Throws when that is no number.
double log_normaliser(std::span<const float> logits) {
  double most = -INFINITY;
  for (const float z : logits) {
    if (!std::isfinite(z))
      fail_work("the model's logits are not finite; its weights are damaged or it diverged");
    most = std::max(most, static_cast<double>(z));
  }
  double sum = 0;
  for (const float z : logits) sum += std::exp(static_cast<double>(z) - most);
  return most + std::log(sum);
}

/// Ids by falling logit, as many as may be chosen.
std::vector<std::int32_t> ranked(std::span<const float> logits, std::int64_t top_k) {
  std::vector<std::int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto before = [&](std::int32_t a, std::int32_t b) {
    const float x = logits[static_cast<std::size_t>(a)], y = logits[static_cast<std::size_t>(b)];
    return x > y || (x == y && a < b);
  };
  const auto count =
      top_k == 0 ? ids.size() : std::min(ids.size(), static_cast<std::size_t>(top_k));
  std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count), ids.end(),
                    before);
  ids.resize(count);
  return ids;
}

/// How many of the weights, largest first, make up the share `top_p` of all.
std::size_t nucleus(std::span<const double> weights, double top_p) {
  if (top_p >= 1.0) return weights.size();
  const double wanted = top_p * std::accumulate(weights.begin(), weights.end(), 0.0);
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sum += weights[i];
    if (sum >= wanted) return i + 1;
  }
  return weights.size();
}

std::int32_t drawn(std::span<const float> logits, const Sampling& sampling, std::uint64_t index) {
  const auto ids = ranked(logits, sampling.top_k);
  const double best = logits[static_cast<std::size_t>(ids.front())];
  std::vector<double> weights;
  for (const auto id : ids)
    weights.push_back(
        std::exp((logits[static_cast<std::size_t>(id)] - best) / sampling.temperature));
  weights.resize(nucleus(weights, sampling.top_p));
  double left = RandomStream(sampling.seed, "generate").uniform(index) *
                std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    left -= weights[i];
    if (left < 0) return ids[i];
  }
  // Rounding may leave a little of the last one.
  return ids[weights.size() - 1];
}

}  // namespace

void check(const Sampling& sampling) {
  require(sampling.temperature >= 0 && std::isfinite(sampling.temperature),
          "--temperature {}: expected a number from 0 (always the most probable token) on",
          sampling.temperature);
  require(sampling.top_k >= 0, "--top-k {}: expected a whole number from 0 (no limit) on",
          sampling.top_k);
  require(sampling.top_p > 0 && sampling.top_p <= 1,
          "--top-p {}: expected a number above 0 and at most 1 (no limit)", sampling.top_p);
}

ChosenToken choose_token(std::span<const float> logits, std::int64_t choices,
                         const Sampling& sampling, std::uint64_t index) {
  const double normaliser = log_normaliser(logits);
  const auto open = logits.first(
      std::min(logits.size(), static_cast<std::size_t>(std::max<std::int64_t>(choices, 1))));
  const auto id =
      sampling.temperature == 0 ? ranked(open, 1).front() : drawn(open, sampling, index);
  return {.id = id, .log_probability = logits[static_cast<std::size_t>(id)] - normaliser};
}

}  // namespace rondo
