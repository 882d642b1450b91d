// Optima over loops and budgets, with the spread of the refits.
#include "report/law_frontier.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/statistics.h"

namespace rondo {
namespace {

/// Loops shown one by one; beyond, powers of two and what the data has.
constexpr int kEveryLoop = 16;
constexpr std::size_t kMostLoopsShown = 32;
constexpr double kMostLoops = 1e6;
constexpr std::size_t kFrontierLines = 4, kFrontierPoints = 49;
/// Refits behind a band or an interval: more change nothing that one sees.
constexpr std::size_t kMostRefits = 200;
constexpr std::size_t kFewestValues = 10;
/// How far beyond the data frontiers are drawn.
constexpr double kBeyond = 10;

std::vector<LawFunction> refit_functions(const LawData& data) {
  std::vector<LawFunction> refits;
  const auto& all = data.law.bootstrap;
  const std::size_t count = std::min(all.size(), kMostRefits);
  for (std::size_t i = 0; i < count; ++i)
    refits.emplace_back(data.law.form, all[i * all.size() / count]);
  return refits;
}

Problem problem_of(const LawData& data, double flops) {
  Problem problem{.limits = {}, .recurrent_share = data.recurrent_share};
  problem.limits.flops = flops;
  return problem;
}

/// T or B worth showing up to `most`.
std::set<double> shown_loops(double most, const LawData& data, double LawCell::*which) {
  std::set<double> values;
  const auto largest = static_cast<int>(most);
  if (largest <= kEveryLoop) {
    for (int value = 1; value <= largest; ++value) values.insert(value);
    return values;
  }
  for (int value = 1; value <= largest; value *= 2) values.insert(value);
  values.insert(largest);
  for (const auto& cell : data.cells)
    if (cell.*which <= most && values.size() < kMostLoopsShown) values.insert(cell.*which);
  return values;
}

std::vector<LoopCount> pairs_to_show(const LawData& data) {
  const auto& form = data.law.form;
  if (!form.uses("loops") && !form.uses("backward_loops")) return {{1, 1}};
  double most = data.law.largest("loops");
  for (const auto& cell : data.cells) most = std::fmax(most, cell.loops);
  if (!(most >= 1)) return {{1, 1}};
  most = std::min(most, kMostLoops);
  std::vector<LoopCount> pairs;
  const auto forward = shown_loops(most, data, &LawCell::loops);
  if (form.uses("backward_loops")) {
    const auto backward = shown_loops(most, data, &LawCell::backward_loops);
    for (const double t : forward)
      for (const double b : backward)
        if (b <= t) pairs.push_back({t, b});
    return pairs;
  }
  // A law that does not see truncation would always prefer B = 1: keep to what was run.
  for (const double t : forward) {
    double b = data.truncates ? 0 : t;
    for (const auto& cell : data.cells)
      if (cell.loops == t && b == 0) b = cell.backward_loops;
    if (b > 0) pairs.push_back({t, b});
  }
  return pairs;
}

/// g, or what stands for it in laws that only have n_eff.
std::optional<double> gain_of(const LawFunction& law, const Setting& setting) {
  const auto point = point_of(setting);
  if (const auto g = law.definition("g", point)) return g;
  const auto effective = law.definition("n_eff", point);
  if (!effective || !(setting.n_rec > 0)) return std::nullopt;
  return (*effective - setting.n_once) / setting.n_rec;
}

void add_intervals(const Problem& problem, const std::vector<LawFunction>& refits,
                   LawOptimum& optimum) {
  std::vector<double> losses, gains;
  for (const auto& refit : refits) {
    losses.push_back(problem.loss(optimum.setting, refit));
    if (const auto gain = gain_of(refit, optimum.setting)) gains.push_back(*gain);
  }
  optimum.loss = middle_interval(std::move(losses));
  optimum.gain_interval = middle_interval(std::move(gains));
}

LawFrontier frontier_at(const LawData& data, const LawOptimum& optimum,
                        const std::vector<LawFunction>& refits) {
  LawFrontier frontier{.loops = optimum.loops, .name = optimum.name, .settings = {}, .loss = {}};
  const double low = std::log(data.least_flops), high = std::log(kBeyond * data.most_flops);
  for (std::size_t i = 0; i < kFrontierPoints; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(kFrontierPoints - 1);
    const Problem problem = problem_of(data, std::exp(low + part * (high - low)));
    const auto best = best_size(problem, *data.function, optimum.loops);
    if (!best) continue;
    frontier.settings.push_back(*best);
    if (refits.empty()) continue;
    std::vector<double> losses;
    for (const auto& refit : refits)
      if (const auto own = best_size(problem, refit, optimum.loops, best->n_total))
        losses.push_back(own->loss_nats);
    frontier.loss.push_back(middle_interval(std::move(losses)));
  }
  return frontier;
}

}  // namespace

Interval middle_interval(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.size() < kFewestValues) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return std::lerp(values[below], values[above], place - static_cast<double>(below));
  };
  return std::pair(quantile(0.025), quantile(0.975));
}

std::vector<LawOptimum> law_optima(const LawData& data) {
  std::vector<LawOptimum> optima;
  if (!data.function || !(data.budget > 0)) return optima;
  const auto refits = refit_functions(data);
  const Problem problem = problem_of(data, data.budget);
  for (const auto& loops : pairs_to_show(data)) {
    const auto best = best_size(problem, *data.function, loops);
    if (!best) continue;
    const LawCell* cell = data.cell(loops.forward, loops.backward);
    LawOptimum optimum{.loops = loops,
                       .name = data.cell_name(loops.forward, loops.backward),
                       .fitted = cell != nullptr && cell->fitted > 0,
                       .held_out = cell != nullptr && cell->fitted == 0 && cell->held_out > 0,
                       .setting = *best,
                       .loss = {},
                       .gain = {},
                       .gain_interval = {}};
    if (data.law.form.uses("loops")) optimum.gain = gain_of(*data.function, *best);
    add_intervals(problem, refits, optimum);
    optima.push_back(std::move(optimum));
  }
  return optima;
}

std::vector<LawFrontier> law_frontiers(const LawData& data, const std::vector<LawOptimum>& optima) {
  std::vector<const LawOptimum*> order;
  for (const auto& optimum : optima)
    if (optimum.fitted) order.push_back(&optimum);
  if (order.empty())
    for (const auto& optimum : optima) order.push_back(&optimum);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->setting.loss_nats < b->setting.loss_nats;
  });
  std::vector<LawFrontier> frontiers;
  const std::vector<LawFunction> none;
  for (const auto* optimum : order) {
    const bool plain = optimum->loops.forward == 1 && optimum->loops.backward == 1;
    if (frontiers.size() >= kFrontierLines && !plain) continue;
    frontiers.push_back(
        frontier_at(data, *optimum, frontiers.empty() ? refit_functions(data) : none));
  }
  return frontiers;
}

}  // namespace rondo
