// Rules, the limits that call for each, and their sentences.
#include "plan/rule.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "plan/words.h"

namespace rondo {
namespace {

// Where limits on the size leave at least this share of the plain model that is best without them,
// parameters are short; below, the size is simply given. Two full loops replace about 30 %.
constexpr double kShort = 0.5;

const Setting* find_loops(const RuleContext& context, double forward, double backward) {
  for (const auto& setting : context.settings)
    if (setting.loops.forward == forward && setting.loops.backward == backward) return &setting;
  return nullptr;
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

/// "0.0123 nats below (8, 8)".
std::string gap(const Setting& best, const Setting& other) {
  return fmt::format("{} nats below {}", nats_text(other.loss_nats - best.loss_nats),
                     pair_text(other.loops));
}

Rule no_loops(const RuleContext& context) {
  return {"no-loops", fmt::format("The law {} does not see loops: under it they only cost compute.",
                                  context.law.form.name)};
}

Rule loop_budget(const RuleContext& context) {
  const Setting& best = context.settings.front();
  const auto budget = static_cast<double>(*context.problem.limits.loop_budget);
  Rule rule{"loop-budget",
            fmt::format("At T + 2B = {:g} the gain of loops alone decides: the best is {}", budget,
                        pair_text(best.loops))};
  const auto split = best_loop_split(context.law, budget);
  if (!split) {
    rule.text += ".";
    return rule;
  }
  const bool full = split->backward >= split->forward;
  rule.text += fmt::format(", and for real numbers T = {:.3g}, B = {:.3g} ({}).", split->forward,
                           split->backward, full ? "q ≥ 2p: full back-propagation" : "q < 2p");
  rule.holds = std::abs(best.loops.backward - split->backward) < 1.5;
  if (!rule.holds) rule.text += " Not so here: the limits keep T and B away from it.";
  return rule;
}

Rule fixed_loops(const RuleContext& context) {
  const Setting& best = context.settings.front();
  const double forward = best.loops.forward;
  const auto* full = find_loops(context, forward, forward);
  Rule rule{
      "fixed-loops",
      fmt::format("With T fixed, truncation can pay: what fewer backward loops save goes into "
                  "{}.",
                  context.held.size ? "tokens" : "size and tokens")};
  rule.holds = best.loops.backward < forward;
  if (rule.holds && full != nullptr)
    rule.text += fmt::format(" Here B = {:g} is best, {}.", best.loops.backward, gap(best, *full));
  else if (rule.holds)
    rule.text += fmt::format(" Here B = {:g}.", best.loops.backward);
  else
    rule.text += fmt::format(" Not so here: all {:g} loops back-propagated are best.", forward);
  return rule;
}

Rule data(const RuleContext& context) {
  const Setting& best = context.settings.front();
  Rule rule{"data", fmt::format("Tokens are at their limit of {}: more compute goes into size "
                                "and loops.",
                                si(*context.problem.limits.tokens_max))};
  rule.text += fmt::format(" Here {} parameters and {}.", si(best.n_total), pair_text(best.loops));
  if (context.local)
    rule.text += fmt::format(" From here on parameters go as C^{:.2f}, loops as C^{:.2f}.",
                             context.local->parameters, context.local->loops);
  if (context.local) rule.holds = context.local->tokens < 0.5;
  return rule;
}

/// The best looped setting against the plain one.
std::string against_plain(const RuleContext& context, const Setting& looped) {
  if (!context.plain) return "";
  const Setting& plain = *context.plain;
  const double loss = looped.loss_nats - plain.loss_nats;
  const double saved = 1 - looped.n_total / plain.n_total;
  return fmt::format(
      "{} nats {} the best plain model{}", nats_text(std::abs(loss)), loss > 0 ? "above" : "below",
      std::abs(saved) < 0.005 ? " of the same size"
                              : fmt::format(" with {} {} parameters", percent(std::abs(saved)),
                                            saved > 0 ? "fewer" : "more"));
}

const Setting* best_looped(const RuleContext& context) {
  const auto place = std::find_if(context.settings.begin(), context.settings.end(),
                                  [](const Setting& setting) { return setting.loops.forward > 1; });
  return place == context.settings.end() ? nullptr : &*place;
}

Rule parameters(const RuleContext& context) {
  Rule rule{"parameters",
            "Parameters are short: two full loops, (2, 2), are the best looped setting"};
  const auto* looped = best_looped(context);
  if (looped == nullptr) {
    rule.text += "; no loops were allowed here.";
    return rule;
  }
  const auto* two = find_loops(context, 2, 2);
  rule.holds = looped == two;
  rule.text += rule.holds ? fmt::format(", here {}.", against_plain(context, *two))
                          : fmt::format(". Not so here: {} is, {}.", pair_text(looped->loops),
                                        against_plain(context, *looped));
  return rule;
}

Rule memory(const RuleContext& context) {
  const Setting& best = context.settings.front();
  Rule rule{"memory", "Size is held: more compute goes mostly into tokens, and slowly into loops."};
  rule.text += fmt::format(" Here {} with {} tokens", pair_text(best.loops), si(best.tokens));
  if (!context.local) return rule.text += ".", rule;
  rule.text += fmt::format("; from here on tokens go as C^{:.2f}, loops as C^{:.2f}.",
                           context.local->tokens, context.local->loops);
  rule.holds = context.local->tokens >= context.local->loops;
  if (!rule.holds) rule.text += " Not so here: loops grow faster than tokens.";
  return rule;
}

Rule everything_free(const RuleContext& context) {
  const Setting& best = context.settings.front();
  Rule rule{"free", "With size, tokens and loops free: few loops, all of them back-propagated."};
  const bool small = best.loops.forward <= 2 && best.loops.backward == best.loops.forward;
  rule.holds = small;
  if (small)
    rule.text += fmt::format(" Here T = B = {:g}", best.loops.forward);
  else
    rule.text += fmt::format(" Not so here: {} is best", pair_text(best.loops));
  const auto* looped = best_looped(context);
  if (looped == nullptr) return rule.text += ".", rule;
  rule.text += best.loops.forward > 1
                   ? fmt::format(", {}.", against_plain(context, best))
                   : fmt::format("; the best looped setting is {}, {}.", pair_text(looped->loops),
                                 against_plain(context, *looped));
  return rule;
}

}  // namespace

Rule rule_of(const RuleContext& context) {
  const auto& limits = context.problem.limits;
  if (!context.law.form.uses("loops")) return no_loops(context);
  if (limits.loop_budget) return loop_budget(context);
  if (limits.loops && *limits.loops > 1 && !limits.backward_loops) return fixed_loops(context);
  if (context.held.tokens) return data(context);
  if (limits.parameters) return memory(context);
  const double cap =
      std::min(limits.parameters_max.value_or(HUGE_VAL), context.problem.memory_cap({1, 1}));
  if (cap < context.unlimited_size && cap >= kShort * context.unlimited_size)
    return parameters(context);
  return context.held.size ? memory(context) : everything_free(context);
}

}  // namespace rondo
