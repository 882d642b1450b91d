// What a plan may spend and what holds it back. Every limit is "at most"; what is not given does
// not limit.
#pragma once

#include <cstdint>
#include <optional>

namespace rondo {

/// Limits in the units of the law's table (parameters, tokens) and FLOPs. Messages name them as the
/// options of `rondo plan`.
struct Limits {
  double flops = 0;  ///< C: training FLOPs, with those of inference below
  double inference_tokens =
      0;  ///< Q: tokens that the trained model will read or write, paid from C
  std::optional<double> parameters = {};            ///< n_total, exactly
  std::optional<double> parameters_max = {};        ///< n_total
  std::optional<double> memory_max = {};            ///< bytes
  double bytes_per_parameter = 16;                  ///< of the memory model without a recipe
  std::optional<double> tokens_max = {};            ///< D
  std::optional<double> unique_tokens = {};         ///< U: what is read beyond is read again
  std::optional<double> recurrent_share = {};       ///< n_rec / n_total
  std::optional<std::int64_t> loops = {};           ///< T, exactly
  std::optional<std::int64_t> backward_loops = {};  ///< B, exactly; 0 = all loops
  std::optional<std::int64_t> loops_max = {};       ///< T
  std::optional<std::int64_t> loop_budget = {};     ///< S: T + 2B, exactly
};

/// Throws an input error for a number out of its range and for two limits that contradict each
/// other.
void check_limits(const Limits& limits);

}  // namespace rondo
