// A plan put together.
#include "plan/plan.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "cost/parameters.h"
#include "plan/range_check.h"
#include "plan/uncertainty.h"

namespace rondo {
namespace {

// Optima are known to about 1e-8.
constexpr double kAtLimit = 1e-6;
constexpr std::size_t kLeading = 5;

void refuse_unidentified(const FittedLaw& law) {
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < law.parameters.size(); ++i)
    if (!std::isfinite(law.parameters[i])) missing.push_back(law.form.parameters[i].name);
  if (missing.empty()) return;
  fail(
      "{}: {} of the law {} {} not identified{}; fit another law, add the runs that are missing "
      "(truncated ones for q), or give values with `rondo fit --fix`",
      law.path, join(missing, ", "), law.form.name, missing.size() == 1 ? "is" : "are",
      law.statements.empty() ? "" : fmt::format(" ({})", join(law.statements, " ")));
}

void check_unique_tokens(const FittedLaw& law, const Limits& limits) {
  if (!limits.unique_tokens || law.form.uses("unique_tokens")) return;
  require(limits.tokens_max && *limits.tokens_max <= *limits.unique_tokens,
          "--unique-tokens {:g}: the law {} does not know what repeated tokens are worth; fit "
          "data-constrained, or set --tokens-max to at most the unique tokens",
          *limits.unique_tokens, law.form.name);
}

/// n_rec / n_total and where it is from.
void choose_share(const FittedLaw& law, const Config* recipe, Plan& plan) {
  if (plan.limits.recurrent_share) {
    plan.recurrent_share = *plan.limits.recurrent_share;
    plan.share_from = "option";
  } else if (std::isfinite(law.recurrent_share)) {
    plan.recurrent_share = law.recurrent_share;
    plan.share_from = "fit";
  } else if (recipe != nullptr) {
    const auto counts = count_parameters(recipe->model, vocabulary_size(*recipe));
    plan.recurrent_share =
        static_cast<double>(counts.recurrent) / static_cast<double>(counts.non_embedding());
    plan.share_from = "recipe";
  } else {
    require(!law.form.uses("loops"),
            "{}: no recurrent_share in it; give --recurrent-share, the share n_rec / n_total of "
            "the parameters inside the loop",
            law.path);
    plan.share_from = "no loops";
  }
}

/// The largest T where the limits name none.
double default_loops(const FittedLaw& law, const Limits& limits) {
  const double largest = law.largest("loops");
  if (std::isfinite(largest) || limits.loops || limits.loops_max) return largest;
  require(!law.form.uses("loops"),
          "{}: the largest T that was fitted is not in it; give --loops-max, or --loops", law.path);
  return 1;
}

bool at_limit(double value, const std::optional<double>& limit) {
  return limit && value >= *limit * (1 - kAtLimit);
}

std::vector<std::string> binding_limits(const Problem& problem, const Setting& best,
                                        double loops_max) {
  const auto& limits = problem.limits;
  std::vector<std::string> names;
  if (best.flops + best.inference_flops >= limits.flops * (1 - kAtLimit)) names.push_back("flops");
  if (limits.parameters) names.push_back("parameters");
  if (at_limit(best.n_total, limits.parameters_max)) names.push_back("parameters_max");
  if (limits.memory_max && best.n_total >= problem.memory_cap(best.loops) * (1 - kAtLimit))
    names.push_back("memory_max");
  if (at_limit(best.tokens, limits.tokens_max)) names.push_back("tokens_max");
  if (best.loops.forward == loops_max && loops_max > 1 && !limits.loops)
    names.push_back("loops_max");
  return names;
}

Held held_by(const std::vector<std::string>& binding) {
  const auto has = [&](const char* name) {
    return std::find(binding.begin(), binding.end(), name) != binding.end();
  };
  const bool memory = has("memory_max");
  return {.size = has("parameters") || has("parameters_max") || memory,
          .memory = memory,
          .tokens = has("tokens_max")};
}

/// What holds the optimum with T and B real, of which the exponents speak. Whole loops may leave a
/// limit unused that real ones would meet.
Held held_at_real_optimum(const Problem& problem, const Plan& plan) {
  for (const auto& row : plan.growth)
    if (row.flops == problem.limits.flops)
      return held_by(binding_limits(problem, row.setting, plan.loops_max));
  return held_by(plan.binding);
}

std::vector<std::string> warnings(const FittedLaw& law, const Plan& plan) {
  std::vector<std::string> lines;
  const auto& best = plan.best.front();
  for (const auto& outside : best.outside) lines.push_back("extrapolation: " + outside);
  const auto& limits = plan.limits;
  const bool choose_backward = !limits.backward_loops && !limits.loop_budget;
  if (law.form.uses("loops") && !law.form.uses("backward_loops") && choose_backward &&
      plan.loops_max > 1)
    lines.push_back(
        fmt::format("the law {} does not see B, so truncation looks free and B = 1 wins; "
                    "--backward-loops 0 keeps B = T, a fit of joint tells what truncation costs",
                    law.form.name));
  const auto has = [&](const char* name) {
    return std::find(plan.binding.begin(), plan.binding.end(), name) != plan.binding.end();
  };
  if (has("loops_max"))
    lines.push_back(
        fmt::format("the best T is the largest allowed, {:g}; a larger --loops-max "
                    "could lower the loss, as far as the law holds there",
                    plan.loops_max));
  if (!has("flops"))
    lines.push_back(fmt::format("the other limits leave {:.3g} of {:.3g} FLOPs unused",
                                limits.flops - best.setting.flops - best.setting.inference_flops,
                                limits.flops));
  return lines;
}

/// n_total of the best plain setting without limits on the size.
double unlimited_size(Problem problem, const LawFunction& law) {
  problem.limits.parameters_max.reset();
  problem.limits.memory_max.reset();
  const auto plain = best_plain(problem, law);
  return plain ? plain->n_total : 0;
}

/// The first looped settings and (2, 2).
std::vector<Setting> leading_looped(const std::vector<Setting>& settings) {
  std::vector<Setting> leading;
  for (const auto& setting : settings) {
    const bool two = setting.loops.forward == 2 && setting.loops.backward == 2;
    if (setting.loops.forward > 1 && (leading.size() < kLeading || two)) leading.push_back(setting);
  }
  return leading;
}

void add_entries(const Problem& problem, const FittedLaw& law, std::vector<Setting> settings,
                 Plan& plan) {
  if (settings.size() > kMostEntries) settings.resize(kMostEntries);
  const auto sure = uncertainty(problem, law, settings);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const double share = sure.share_best[i];
    plan.best.push_back({.setting = settings[i],
                         .loss_interval = sure.loss[i],
                         .share_best = std::isfinite(share) ? std::optional(share) : std::nullopt,
                         .outside = outside_fitted_range(law, settings[i])});
  }
}

}  // namespace

Plan make_plan(const FittedLaw& law, const Limits& limits, const Config* recipe) {
  check_limits(limits);
  refuse_unidentified(law);
  check_unique_tokens(law, limits);
  Plan plan{.law = law.form.name, .path = law.path, .limits = limits};
  choose_share(law, recipe, plan);
  const LoopSpace space(limits, default_loops(law, limits));
  plan.loops_max = space.largest();
  Problem problem{.limits = limits, .recurrent_share = plan.recurrent_share};
  plan.recipe_memory = recipe != nullptr && limits.memory_max;
  if (plan.recipe_memory) problem.memory_limit = recipe_memory_limit(*recipe, *limits.memory_max);

  const LawFunction function(law.form, law.parameters);
  const auto settings = search_whole(problem, function, space);
  const Setting& best = settings.front();
  plan.settings = settings.size();
  add_entries(problem, law, settings, plan);
  plan.binding = binding_limits(problem, best, plan.loops_max);
  plan.flatness = flatness(problem, function, best);
  plan.local = local_exponents(problem, function, space);
  plan.growth = growth(problem, function, space);
  plan.asymptotic = asymptotic_exponents(law, limits, held_at_real_optimum(problem, plan));
  if (limits.loop_budget)
    plan.loop_split = best_loop_split(law, static_cast<double>(*limits.loop_budget));
  plan.plain = best_plain(problem, function);
  if (plan.plain)
    plan.trade_offs = trade_offs(problem, function, *plan.plain, leading_looped(settings));
  plan.rule = rule_of({.problem = problem,
                       .law = law,
                       .settings = settings,
                       .held = held_by(plan.binding),
                       .plain = plan.plain,
                       .local = plan.local,
                       .unlimited_size = unlimited_size(problem, function)});
  plan.warnings = warnings(law, plan);
  return plan;
}

}  // namespace rondo
