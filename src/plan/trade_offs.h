// How flat a plan's optimum is, and what loops buy at equal loss against the plain model.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/search.h"

namespace rondo {

/// How far the size may move at the same loops and the same budget before the loss is `nats` worse.
/// Nothing on a side where a limit comes first.
struct Flatness {
  double nats;
  std::optional<double> lowest, highest;  ///< n_total
};

/// Flatness of an optimum at 0.001 and 0.005 nats; empty where the size is fixed.
std::vector<Flatness> flatness(const Problem& problem, const LawFunction& law,
                               const Setting& optimum);

/// A looped setting that reaches the loss of the best plain one (T = B = 1) with fewer parameters.
struct TradeOff {
  LoopCount loops = {};
  /// "equal_flops": tokens are what the plan's budget leaves. "equal_tokens": the tokens of the
  /// plain optimum, and the FLOPs that follow.
  std::string at = {};
  /// Loss of these loops at their best size under the plan's limits, less that of the plain model.
  double loss_gap_nats = 0;
  /// The smallest size that reaches the plain loss; nothing when none does.
  std::optional<Setting> setting = {};
  double parameters_saved = 0;  ///< 1 − n_total / that of the plain optimum
  double extra_flops = 0;       ///< FLOPs of training / those of the plain optimum − 1
};

/// The best plain setting under the limits on everything but loops; nothing when there is none.
std::optional<Setting> best_plain(const Problem& problem, const LawFunction& law);

/// Two trade-offs for each of these settings, in their order; plain ones are passed over.
std::vector<TradeOff> trade_offs(const Problem& problem, const LawFunction& law,
                                 const Setting& plain, std::span<const Setting> settings);

}  // namespace rondo
