// Means over parts of the interaction matrix.
#include <algorithm>
#include <numeric>

#include "diagnose/interaction.h"

namespace rondo {

std::vector<LagMean> lag_curve(const InteractionMatrix& matrix, const Occurrences& occurrences,
                               std::int64_t trained_loops) {
  const auto loops = occurrences.loops();
  const auto after = loops > trained_loops ? trained_loops : 0;
  const auto begin = occurrences.first_of_loop(after + 1);
  const auto end = occurrences.first_of_loop(loops + 1);
  std::vector<LagMean> curve(static_cast<std::size_t>(loops - after));
  for (auto i = begin; i < end; ++i) {
    for (auto j = i + 1; j < end; ++j) {
      auto& mean = curve[(j - begin) / occurrences.core() - (i - begin) / occurrences.core()];
      mean.value += matrix.at(i, j);
      ++mean.pairs;
    }
  }
  for (std::size_t d = 0; d < curve.size(); ++d) {
    curve[d].lag = static_cast<std::int64_t>(d);
    curve[d].value /= static_cast<double>(curve[d].pairs);
  }
  // A core of one layer has no pair within a loop.
  if (curve.front().pairs == 0) curve.erase(curve.begin());
  return curve;
}

double mean_from_lag_1(const std::vector<LagMean>& curve) {
  double sum = 0, pairs = 0;
  for (const auto& mean : curve) {
    if (mean.lag == 0) continue;
    sum += mean.value * static_cast<double>(mean.pairs);
    pairs += static_cast<double>(mean.pairs);
  }
  return sum / pairs;
}

std::optional<Response> response(const InteractionMatrix& matrix, const Occurrences& occurrences,
                                 std::int64_t trained_loops) {
  const auto first = occurrences.first_of_loop(trained_loops + 1) + occurrences.coda();
  Response result{.first_skip = first,
                  .last_skip = first + occurrences.layers() - 1,
                  .value = {},
                  .terminal = 0};
  const auto last_loop = occurrences.first_of_loop(occurrences.loops());
  if (result.last_skip >= last_loop) return std::nullopt;
  const auto answer = [&](std::size_t j) {
    double sum = 0;
    for (auto i = result.first_skip; i <= result.last_skip; ++i) sum += matrix.at(i, j);
    return sum / static_cast<double>(occurrences.layers());
  };
  double usual = 0;
  for (std::size_t layer = 0; layer < occurrences.core(); ++layer)
    usual += answer(last_loop + layer) / static_cast<double>(occurrences.core());
  for (auto j = result.last_skip + 1; j < matrix.size; ++j)
    result.value.push_back(answer(j) / usual);
  const auto terminal = std::max<std::size_t>(occurrences.coda(), 1);
  result.terminal = std::accumulate(result.value.end() - static_cast<std::ptrdiff_t>(terminal),
                                    result.value.end(), 0.0) /
                    static_cast<double>(terminal);
  return result;
}

std::int64_t loops_for_response(const ModelConfig& config, std::int64_t trained_loops) {
  // The last loop begins behind the last skip: s (r − 1) > s K + c + (p + s + c) − 1.
  const auto core = config.core_layers;
  return trained_loops + 2 + (config.prelude_layers + 2 * config.coda_layers + core - 1) / core;
}

}  // namespace rondo
