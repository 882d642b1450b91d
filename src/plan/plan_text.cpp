// A plan for people.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "plan/plan.h"
#include "plan/words.h"

namespace rondo {
namespace {

constexpr std::size_t kShown = 8;

std::string indent(const std::string& lines) {
  std::string out;
  for (const auto& line : split(lines, '\n'))
    if (!line.empty()) out += fmt::format("  {}\n", line);
  return out;
}

std::string budget_text(const Plan& plan) {
  const auto& limits = plan.limits;
  std::string text = fmt::format("{:.4g} FLOPs", limits.flops);
  if (limits.inference_tokens > 0)
    text += fmt::format(" for training and {:.4g} tokens of inference", limits.inference_tokens);
  const auto add = [&](const char* what, const auto& value) {
    if (value) text += fmt::format(", {} {:.4g}", what, static_cast<double>(*value));
  };
  add("parameters =", limits.parameters);
  add("parameters ≤", limits.parameters_max);
  if (limits.memory_max)
    text += fmt::format(", memory ≤ {} ({})", bytes(*limits.memory_max),
                        plan.recipe_memory
                            ? "the recipe's model"
                            : fmt::format("{:g} bytes a parameter", limits.bytes_per_parameter));
  add("tokens ≤", limits.tokens_max);
  add("unique tokens", limits.unique_tokens);
  add("T =", limits.loops);
  if (limits.backward_loops)
    text +=
        *limits.backward_loops == 0 ? ", B = T" : fmt::format(", B = {}", *limits.backward_loops);
  add("T + 2B =", limits.loop_budget);
  if (!limits.loops) text += fmt::format(", T ≤ {:g}", plan.loops_max);
  return text + fmt::format(", n_rec / n_total = {:.3g} ({})", plan.recurrent_share,
                            plan.share_from == "option" ? "given" : "from the " + plan.share_from);
}

std::string table_text(const Plan& plan) {
  const auto& best = plan.best;
  const bool intervals = best.front().loss_interval.has_value();
  const bool shares = best.front().share_best.has_value();
  const std::size_t rows = std::min(kShown, best.size());
  const bool marks = std::any_of(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(rows),
                                 [](const auto& entry) { return !entry.outside.empty(); });
  std::vector<std::string> header = {"T", "B", "n_total", "n_rec", "tokens", "FLOPs", "loss_nats"};
  if (intervals) header.emplace_back("95 %");
  if (shares) header.emplace_back("best in");
  if (marks) header.emplace_back("");
  TextTable table(header);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto& s = best[i].setting;
    std::vector<std::string> row = {fmt::format("{:g}", s.loops.forward),
                                    fmt::format("{:g}", s.loops.backward),
                                    si(s.n_total),
                                    si(s.n_rec),
                                    si(s.tokens),
                                    fmt::format("{:.3g}", s.flops),
                                    fmt::format("{:.4f}", s.loss_nats)};
    const auto& interval = best[i].loss_interval;
    if (intervals)
      row.push_back(interval ? fmt::format("{:.4f} … {:.4f}", interval->first, interval->second)
                             : "–");
    if (shares) row.push_back(fmt::format("{:.0f} %", 100 * best[i].share_best.value_or(0)));
    if (marks) row.emplace_back(best[i].outside.empty() ? "" : "extrapolated");
    table.add(row);
  }
  std::string text = table.aligned();
  if (plan.settings > rows) text += fmt::format("… of {} pairs (T, B)\n", plan.settings);
  return text;
}

std::string exponent_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.3f}", value) : "–";
}

std::string exponents_text(const Plan& plan) {
  TextTable table({"as powers of C", "loops", "tokens", "parameters", ""});
  const auto add = [&](const char* name, const Exponents& e, const std::string& why) {
    table.add(
        {name, exponent_text(e.loops), exponent_text(e.tokens), exponent_text(e.parameters), why});
  };
  if (plan.local) add("here", *plan.local, "T and B real, under these limits");
  add("C → ∞", plan.asymptotic.exponents, plan.asymptotic.why);
  std::string text = table.aligned() + "\n";
  TextTable growth({"FLOPs", "T", "B", "n_total", "tokens", "loss_nats"});
  for (const auto& row : plan.growth)
    growth.add({fmt::format("{:.3g}", row.flops), fmt::format("{:.3g}", row.setting.loops.forward),
                fmt::format("{:.3g}", row.setting.loops.backward), si(row.setting.n_total),
                si(row.setting.tokens), fmt::format("{:.4f}", row.setting.loss_nats)});
  return text + growth.aligned();
}

std::string flatness_text(const Plan& plan) {
  std::string text;
  const auto& best = plan.best.front().setting;
  for (const auto& row : plan.flatness) {
    const auto factor = [&](const std::optional<double>& size, const char* side) {
      return size ? fmt::format("× {:.2f}", *size / best.n_total) : fmt::format("any {}", side);
    };
    text += fmt::format("{:g} nats worse: n_total {} … {}\n", row.nats,
                        factor(row.lowest, "smaller"), factor(row.highest, "larger allowed"));
  }
  if (plan.best.size() > 1)
    text += fmt::format("runner-up {}: {} nats worse\n", pair_text(plan.best[1].setting.loops),
                        nats_text(plan.best[1].setting.loss_nats - best.loss_nats));
  return text;
}

/// One row a pair of loops; each pair has an entry at equal FLOPs and one at equal tokens.
std::string trade_offs_text(const Plan& plan) {
  if (plan.trade_offs.empty()) return "";
  TextTable table({"T", "B", "loss_nats", "parameters at equal loss and FLOPs",
                   "at equal loss and tokens", "with FLOPs"});
  std::vector<std::string> row;
  for (const auto& trade : plan.trade_offs) {
    const auto saved = trade.setting ? change_text(-trade.parameters_saved) : "–";
    if (trade.at == "equal_flops") {
      row = {
          fmt::format("{:g}", trade.loops.forward), fmt::format("{:g}", trade.loops.backward),
          fmt::format("{}{}", trade.loss_gap_nats > 0 ? "+" : "", nats_text(trade.loss_gap_nats)),
          saved};
      continue;
    }
    row.push_back(saved);
    row.push_back(trade.setting ? change_text(trade.extra_flops) : "–");
    table.add(row);
  }
  return fmt::format(
      "Loops against the plain model at its best ({} parameters, {} tokens, {:.4f} nats)\n{}\n",
      si(plan.plain->n_total), si(plan.plain->tokens), plan.plain->loss_nats,
      indent(table.aligned()));
}

}  // namespace

std::string plan_text(const Plan& plan) {
  std::string text = fmt::format("Law {} ({}): {}\n\n", plan.law, plan.path, budget_text(plan));
  text += indent(table_text(plan)) + "\n";
  text += fmt::format("Rule: {}\n", plan.rule.text);
  if (plan.loop_split)
    text +=
        fmt::format("T + 2B = {}: T = {:.4g}, B = {:.4g} would be best\n", *plan.limits.loop_budget,
                    plan.loop_split->forward, plan.loop_split->backward);
  text += fmt::format("\nGrowth\n{}\n", indent(exponents_text(plan)));
  const auto flat = flatness_text(plan);
  if (!flat.empty()) text += fmt::format("How flat it is\n{}\n", indent(flat));
  text += trade_offs_text(plan);
  if (!plan.warnings.empty()) {
    std::string lines;
    for (const auto& warning : plan.warnings) lines += warning + "\n";
    text += fmt::format("Warnings\n{}\n", indent(lines));
  }
  text.pop_back();
  return text;
}

std::string recipe_text(const PlannedRecipe& recipe, const Plan& plan) {
  const auto& best = plan.best.front().setting;
  const auto& config = recipe.config;
  const auto off = [](double is, double planned) {
    return fmt::format("{:+.1f} %", 100 * (is / planned - 1));
  };
  TextTable table({"", "recipe", "planned", "off"});
  table.add({"parameters", si(recipe.parameters), si(best.n_total),
             off(recipe.parameters, best.n_total)});
  table.add({"n_rec / n_total", fmt::format("{:.3f}", recipe.recurrent_share),
             fmt::format("{:.3f}", plan.recurrent_share),
             fmt::format("{:+.3f}", recipe.recurrent_share - plan.recurrent_share)});
  table.add({"tokens", si(recipe.tokens), si(best.tokens), off(recipe.tokens, best.tokens)});
  table.add({"FLOPs", fmt::format("{:.3g}", recipe.flops), fmt::format("{:.3g}", best.flops),
             off(recipe.flops, best.flops)});
  std::string text = fmt::format(
      "Recipe: d_model {}, {} heads of {}, d_ff {}, T = {}, B = {}, {} steps\n{}",
      config.model.d_model, config.model.heads, config.model.head_dim, config.model.d_ff,
      config.loops.forward, config.loops.backward, config.train.steps, indent(table.aligned()));
  for (const auto& note : recipe.notes) text += fmt::format("  {}\n", note);
  return text;
}

}  // namespace rondo
