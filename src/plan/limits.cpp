// Limits that no plan could keep are refused before the search, by name.
#include "plan/limits.h"

#include <cmath>

#include "base/error.h"

namespace rondo {
namespace {

void require_positive(const std::optional<double>& value, const char* option) {
  require(!value || (std::isfinite(*value) && *value > 0),
          "{} {:g}: expected a finite number above 0", option, value.value_or(0));
}

void check_loops(const Limits& limits) {
  const auto &loops = limits.loops, &backward = limits.backward_loops, &most = limits.loops_max;
  if (loops && most)
    require(*loops <= *most, "--loops {} is above --loops-max {}; change one of them", *loops,
            *most);
  if (backward && loops)
    require(*backward <= *loops,
            "--backward-loops {} is more than --loops {}; only loops that are run can be "
            "back-propagated (0 = all)",
            *backward, *loops);
  if (backward && most)
    require(*backward <= *most, "--backward-loops {} is above --loops-max {}, and B ≤ T", *backward,
            *most);
}

}  // namespace

void check_limits(const Limits& limits) {
  require_positive(limits.flops, "--flops");
  require_positive(limits.parameters, "--parameters");
  require_positive(limits.parameters_max, "--parameters-max");
  require_positive(limits.memory_max, "--memory-max");
  require_positive(limits.bytes_per_parameter, "--bytes-per-parameter");
  require_positive(limits.tokens_max, "--tokens-max");
  require_positive(limits.unique_tokens, "--unique-tokens");
  require(std::isfinite(limits.inference_tokens) && limits.inference_tokens >= 0,
          "--inference-tokens {:g}: expected a finite number, 0 or more", limits.inference_tokens);
  if (limits.recurrent_share)
    require(*limits.recurrent_share >= 0 && *limits.recurrent_share <= 1,
            "--recurrent-share {:g}: expected n_rec / n_total, a number from 0 to 1",
            *limits.recurrent_share);
  if (limits.parameters && limits.parameters_max)
    require(*limits.parameters <= *limits.parameters_max,
            "--parameters {:g} is above --parameters-max {:g}; change one of them",
            *limits.parameters, *limits.parameters_max);
  check_loops(limits);
}

}  // namespace rondo
