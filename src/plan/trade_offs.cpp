// Curves of equal loss.
#include "plan/trade_offs.h"

#include <cmath>

#include "plan/curve.h"

namespace rondo {
namespace {

// In ln n_total: fine enough that a valley between two steps is shallower than what is asked about.
constexpr double kWalk = 0.05;
// Looped sizes that could ever equal a plain one lie within this factor, e^7.
constexpr double kReach = 7;
// A tie is reached, whatever rounding says.
constexpr double kTie = 1e-12;

/// Loss above `level` at ln n_total, tokens being what the budget leaves.
Curve above_level(const Problem& problem, const LawFunction& law, LoopCount loops, double level) {
  return [&problem, &law, loops, level](double log_n) {
    return problem.at(loops, std::exp(log_n), law).loss_nats - level;
  };
}

/// The smallest size that reaches `level` with the budget of `problem`.
std::optional<Setting> at_equal_flops(const Problem& problem, const LawFunction& law,
                                      const Setting& best, double level) {
  if (best.loss_nats > level + kTie) return std::nullopt;
  const auto curve = above_level(problem, law, best.loops, level + kTie);
  const auto edge = first_crossing(curve, std::log(best.n_total), 0, kWalk);
  return problem.at(best.loops, edge ? std::exp(*edge) : 1, law);
}

/// The smallest size that reaches the loss of `plain` with its tokens, whatever that costs.
std::optional<Setting> at_equal_tokens(const Problem& problem, const LawFunction& law,
                                       const Setting& plain, LoopCount loops) {
  Problem unpaid = problem;
  unpaid.limits.tokens_max = plain.tokens;
  unpaid.limits.flops = HUGE_VAL;
  const auto curve = above_level(unpaid, law, loops, plain.loss_nats + kTie);
  const double middle = std::log(plain.n_total);
  double inside = middle;
  while (!(curve(inside) <= 0)) {
    inside += kWalk;
    if (inside > middle + kReach) return std::nullopt;
  }
  const auto edge = first_crossing(curve, inside, middle - kReach, kWalk);
  if (!edge) return std::nullopt;
  return unpaid.at(loops, std::exp(*edge), law);
}

}  // namespace

std::vector<Flatness> flatness(const Problem& problem, const LawFunction& law,
                               const Setting& optimum) {
  const Span sizes = problem.sizes(optimum.loops);
  if (sizes.empty() || sizes.low == sizes.high) return {};
  std::vector<Flatness> rows;
  const double middle = std::log(optimum.n_total);
  for (const double nats : {0.001, 0.005}) {
    const auto curve = above_level(problem, law, optimum.loops, optimum.loss_nats + nats);
    const auto edge = [&](double end) -> std::optional<double> {
      const auto found = first_crossing(curve, middle, end, kWalk);
      return found ? std::optional(std::exp(*found)) : std::nullopt;
    };
    rows.push_back({nats, edge(std::log(sizes.low)), edge(std::log(sizes.high))});
  }
  return rows;
}

std::optional<Setting> best_plain(const Problem& problem, const LawFunction& law) {
  return best_size(problem, law, {1, 1});
}

std::vector<TradeOff> trade_offs(const Problem& problem, const LawFunction& law,
                                 const Setting& plain, std::span<const Setting> settings) {
  const Problem free = problem.with_free_size();
  std::vector<TradeOff> rows;
  for (const auto& setting : settings) {
    if (setting.loops.forward <= 1) continue;
    const auto best = best_size(free, law, setting.loops, setting.n_total);
    if (!best) continue;
    const auto add = [&](const char* at, const std::optional<Setting>& reached) {
      TradeOff row{.loops = setting.loops,
                   .at = at,
                   .loss_gap_nats = best->loss_nats - plain.loss_nats,
                   .setting = reached};
      if (row.setting) {
        row.parameters_saved = 1 - row.setting->n_total / plain.n_total;
        row.extra_flops = row.setting->flops / plain.flops - 1;
      }
      rows.push_back(std::move(row));
    };
    add("equal_flops", at_equal_flops(free, law, *best, plain.loss_nats));
    add("equal_tokens", at_equal_tokens(problem, law, plain, setting.loops));
  }
  return rows;
}

}  // namespace rondo
