// What the limits leave for given loops: which sizes are allowed, and how many tokens each gets.
// FLOPs a token are 6 n_once + 2 (T + 2B) n_rec (cost/flops.h); inference costs 2 (n_once + T
// n_rec) a token.
#pragma once

#include <functional>
#include <string>

#include "cost/loops.h"
#include "law/fit.h"
#include "plan/limits.h"
#include "plan/loop_space.h"

namespace rondo {

/// One way to spend a budget. T and B may be real.
struct Setting {
  LoopCount loops = {};
  double n_once = 0, n_rec = 0, n_total = 0;
  double tokens = 0;
  double flops = 0;            ///< of training
  double inference_flops = 0;  ///< of Limits::inference_tokens
  double loss_nats = 0;
};

/// Where a law is asked for the loss of a setting.
LawFunction::Point point_of(const Setting& setting);

/// The largest n_total that memory allows at these loops, 0 for none.
using SizeLimit = std::function<double(LoopCount)>;

/// Limits with what they need to be applied.
struct Problem {
  Limits limits = {};
  double recurrent_share = 0;
  /// The memory model of a recipe for limits.memory_max; without it bytes_per_parameter counts.
  SizeLimit memory_limit = {};

  /// Training FLOPs per token and parameter.
  [[nodiscard]] double flops_per_parameter(LoopCount loops) const;
  /// Inference FLOPs of all Limits::inference_tokens per parameter.
  [[nodiscard]] double inference_per_parameter(LoopCount loops) const;
  /// Caps on n_total: of memory, and of a budget that must pay for one token.
  [[nodiscard]] double memory_cap(LoopCount loops) const;
  [[nodiscard]] double budget_cap(LoopCount loops) const;
  /// Sizes n_total that every limit allows, from 1; one number where the size is fixed.
  [[nodiscard]] Span sizes(LoopCount loops) const;
  /// The size below which --tokens-max holds back the tokens and not the budget; 0 without one.
  [[nodiscard]] double tokens_bind_below(LoopCount loops) const;
  /// The setting of this size with all tokens that the limits allow, and its loss under `law`.
  [[nodiscard]] Setting at(LoopCount loops, double n_total, const LawFunction& law) const;
  /// Loss of a setting under a law, whatever it costs.
  [[nodiscard]] double loss(const Setting& setting, const LawFunction& law) const;
  /// The same with another C.
  [[nodiscard]] Problem with_flops(double flops) const;
  /// The same where a fixed size is only the largest one.
  [[nodiscard]] Problem with_free_size() const;
};

/// The error of a problem that no size solves at any loops; `cheapest` are the loops that ask for
/// the least compute and memory. Exit status 1; names the limit that binds.
[[noreturn]] void refuse_infeasible(const Problem& problem, LoopCount cheapest);

}  // namespace rondo
