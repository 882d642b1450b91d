// Laws of the loop count, evaluated as tables of probabilities.
#include "cost/loops.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace rondo {
namespace {

constexpr double kRateSigma = 0.5;

/// Probabilities of 1 + Poisson(rate) = 1 … `longest`, averaged over the log-normal rate. The
/// trapezoid rule converges exponentially on the bell curve as long as its steps resolve a Poisson
/// peak, whose relative width is 1 / √rate; beyond a dozen of these widths the peak is nothing.
std::vector<double> poisson_lognormal(std::int64_t forward, std::size_t longest) {
  std::vector<double> law(longest, 0.0);
  if (forward <= 1) {
    law[0] = 1.0;
    return law;
  }
  const auto [mu, sigma] = poisson_lognormal_rate(forward);
  constexpr double kReach = 8.0;
  const auto steps =
      static_cast<int>(std::max(200.0, 16.0 * std::sqrt(static_cast<double>(forward))));
  const double width = 2.0 * kReach / steps;
  for (int i = 0; i <= steps; ++i) {
    const double z = -kReach + width * i;
    const double density = std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi) * width;
    const double log_rate = mu + sigma * z, rate = std::exp(log_rate);
    const double reach = 12.0 * std::sqrt(rate) + 30.0;
    const auto first = static_cast<std::size_t>(std::max(0.0, rate - reach));
    const auto end = std::min(longest, static_cast<std::size_t>(rate + reach));
    for (std::size_t k = first; k < end; ++k) {
      const auto events = static_cast<double>(k);
      law[k] += density * std::exp(events * log_rate - rate - std::lgamma(events + 1.0));
    }
  }
  return law;
}

std::vector<double> uniform(std::int64_t forward, std::size_t longest) {
  const auto largest = static_cast<std::size_t>(2 * forward - 1);
  std::vector<double> law(longest, 0.0);
  std::fill_n(law.begin(), std::min(largest, longest), 1.0 / static_cast<double>(largest));
  return law;
}

/// Share of the first `steps` steps that a schedule gives to each number of loops.
std::vector<double> schedule(const LoopsConfig& loops, std::int64_t steps) {
  std::vector<double> law(static_cast<std::size_t>(loops.forward), 0.0);
  // T never falls, so the first step of each number is found by halving.
  std::int64_t from = 1;
  for (std::int64_t t = loops.start; t <= loops.forward && from <= steps; ++t) {
    std::int64_t low = from, high = steps + 1;
    while (low < high) {
      const auto middle = low + (high - low) / 2;
      if (scheduled_loops(loops, middle) > t) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    law[static_cast<std::size_t>(t) - 1] =
        static_cast<double>(low - from) / static_cast<double>(steps);
    from = low;
  }
  return law;
}

/// What lies above the table belongs to its last entry: a larger draw is cut down to the cap.
void gather_rest(std::vector<double>& law) {
  double sum = 0.0;
  for (const double p : law) sum += p;
  law.back() += std::max(0.0, 1.0 - sum);
}

}  // namespace

std::int64_t backward_loops(std::int64_t forward, std::int64_t backward) {
  return backward == 0 ? forward : std::min(forward, backward);
}

std::int64_t scheduled_loops(const LoopsConfig& loops, std::int64_t step) {
  if (step > loops.schedule_steps) return loops.forward;
  const auto way = static_cast<double>(loops.forward - loops.start);
  const double gone = way * static_cast<double>(step - 1);
  return loops.start + static_cast<std::int64_t>(
                           std::floor(gone / static_cast<double>(loops.schedule_steps) + 0.5));
}

LoopCount nominal_loops(const LoopsConfig& loops) {
  return {static_cast<double>(loops.forward),
          static_cast<double>(backward_loops(loops.forward, loops.backward))};
}

LoopCount largest_loops(const LoopsConfig& loops) {
  std::int64_t forward = loops.forward;
  if (loops.sampler == Sampler::kPoissonLognormal && forward > 1) forward = loops.max;
  if (loops.sampler == Sampler::kUniform) forward = std::min(2 * forward - 1, loops.max);
  return {static_cast<double>(forward),
          static_cast<double>(backward_loops(forward, loops.backward))};
}

std::int64_t smallest_loops(const LoopsConfig& loops) {
  if (loops.sampler == Sampler::kFixed) return loops.forward;
  return loops.sampler == Sampler::kSchedule ? loops.start : 1;
}

RateLaw poisson_lognormal_rate(std::int64_t forward) {
  return {std::log(static_cast<double>(forward - 1)) - kRateSigma * kRateSigma / 2, kRateSigma};
}

std::vector<double> loop_law(const LoopsConfig& loops, std::int64_t steps) {
  const auto longest = static_cast<std::size_t>(loops.max);
  std::vector<double> law;
  switch (loops.sampler) {
    case Sampler::kFixed:
      law.assign(longest, 0.0);
      law[static_cast<std::size_t>(loops.forward) - 1] = 1.0;
      return law;
    case Sampler::kSchedule:
      return schedule(loops, steps);
    case Sampler::kPoissonLognormal:
      law = poisson_lognormal(loops.forward, longest);
      break;
    case Sampler::kUniform:
      law = uniform(loops.forward, longest);
      break;
  }
  gather_rest(law);
  return law;
}

LoopCount expected_loops(const LoopsConfig& loops, std::int64_t steps) {
  if (loops.sampler == Sampler::kFixed) return nominal_loops(loops);
  LoopCount mean{0, 0};
  const auto law = loop_law(loops, steps);
  for (std::size_t i = 0; i < law.size(); ++i) {
    const auto drawn = static_cast<std::int64_t>(i) + 1;
    mean.forward += law[i] * static_cast<double>(drawn);
    mean.backward += law[i] * static_cast<double>(backward_loops(drawn, loops.backward));
  }
  return mean;
}

}  // namespace rondo
