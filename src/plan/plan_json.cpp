// A plan as JSON.
#include <cmath>
#include <nlohmann/json.hpp>

#include "law/fit_record.h"
#include "plan/plan.h"

namespace rondo {
namespace {

template <typename Value>
Json maybe(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

/// Sizes and costs of a setting. T and B are added by the caller, whole or real.
void add_setting(Json& out, const Setting& setting) {
  out["n_once"] = setting.n_once;
  out["n_rec"] = setting.n_rec;
  out["n_total"] = setting.n_total;
  out["tokens"] = setting.tokens;
  out["flops"] = setting.flops;
  if (setting.inference_flops > 0) out["inference_flops"] = setting.inference_flops;
  out["loss_nats"] = setting.loss_nats;
}

Json whole_loops(const LoopCount& loops) {
  return {{"loops", std::llround(loops.forward)}, {"backward_loops", std::llround(loops.backward)}};
}

Json real_loops(const LoopCount& loops) {
  return {{"loops", loops.forward}, {"backward_loops", loops.backward}};
}

Json entry_json(const PlanEntry& entry) {
  Json out = whole_loops(entry.setting.loops);
  add_setting(out, entry.setting);
  const auto& interval = entry.loss_interval;
  out["loss_interval"] = interval ? Json::array({interval->first, interval->second}) : Json();
  out["share_best"] = maybe(entry.share_best);
  out["extrapolates"] = !entry.outside.empty();
  out["outside"] = entry.outside;
  return out;
}

Json exponents_json(const Exponents& exponents) {
  return {{"loops", finite_or_null(exponents.loops)},
          {"tokens", finite_or_null(exponents.tokens)},
          {"parameters", finite_or_null(exponents.parameters)}};
}

Json flatness_json(const Plan& plan) {
  Json rows = Json::array();
  const double best = plan.best.front().setting.n_total;
  const auto factor = [&](const std::optional<double>& size) {
    return size ? Json(*size / best) : Json();
  };
  for (const auto& row : plan.flatness)
    rows.push_back({{"nats", row.nats},
                    {"n_total_lowest", maybe(row.lowest)},
                    {"n_total_highest", maybe(row.highest)},
                    {"factor_down", factor(row.lowest)},
                    {"factor_up", factor(row.highest)}});
  return rows;
}

Json growth_json(const Plan& plan) {
  Json rows = Json::array();
  for (const auto& row : plan.growth) {
    Json out = real_loops(row.setting.loops);
    out["budget_flops"] = row.flops;
    add_setting(out, row.setting);
    rows.push_back(out);
  }
  return rows;
}

Json trade_offs_json(const Plan& plan) {
  Json rows = Json::array();
  for (const auto& trade : plan.trade_offs) {
    Json out = whole_loops(trade.loops);
    out["at"] = trade.at;
    out["loss_gap_nats"] = trade.loss_gap_nats;
    out["reached"] = trade.setting.has_value();
    out["parameters_saved"] = trade.setting ? Json(trade.parameters_saved) : Json();
    out["extra_flops"] = trade.setting ? Json(trade.extra_flops) : Json();
    if (trade.setting) add_setting(out, *trade.setting);
    rows.push_back(out);
  }
  return rows;
}

Json limits_json(const Plan& plan) {
  const Limits& limits = plan.limits;
  Json out = {{"flops", limits.flops}};
  if (limits.inference_tokens > 0) out["inference_tokens"] = limits.inference_tokens;
  const auto add = [&](const char* name, const auto& value) {
    if (value) out[name] = *value;
  };
  add("parameters", limits.parameters);
  add("parameters_max", limits.parameters_max);
  add("memory_max", limits.memory_max);
  if (limits.memory_max && plan.recipe_memory) out["memory_model"] = "recipe";
  if (limits.memory_max && !plan.recipe_memory)
    out["bytes_per_parameter"] = limits.bytes_per_parameter;
  add("tokens_max", limits.tokens_max);
  add("unique_tokens", limits.unique_tokens);
  add("loops", limits.loops);
  add("backward_loops", limits.backward_loops);
  add("loop_budget", limits.loop_budget);
  return out;
}

}  // namespace

Json to_json(const Plan& plan) {
  Json out = {{"law", plan.law}, {"fit", plan.path}};
  out["limits"] = limits_json(plan);
  out["recurrent_share"] = plan.recurrent_share;
  out["recurrent_share_from"] = plan.share_from;
  out["loops_max"] = std::llround(plan.loops_max);
  out["settings"] = plan.settings;
  Json best = Json::array();
  for (const auto& entry : plan.best) best.push_back(entry_json(entry));
  out["best"] = std::move(best);
  out["binding"] = plan.binding;
  out["runner_up"] = Json();
  if (plan.best.size() > 1) {
    out["runner_up"] = whole_loops(plan.best[1].setting.loops);
    out["runner_up"]["loss_gap_nats"] =
        plan.best[1].setting.loss_nats - plan.best[0].setting.loss_nats;
  }
  out["flatness"] = flatness_json(plan);
  const double none = std::nan("");
  out["exponents"] = exponents_json(plan.local.value_or(Exponents{none, none, none}));
  out["exponents_asymptotic"] = exponents_json(plan.asymptotic.exponents);
  out["exponents_asymptotic"]["reason"] = plan.asymptotic.why;
  out["growth"] = growth_json(plan);
  if (plan.loop_split) out["loop_budget"] = real_loops(*plan.loop_split);
  out["plain"] = Json();
  if (plan.plain) {
    out["plain"] = whole_loops(plan.plain->loops);
    add_setting(out["plain"], *plan.plain);
  }
  out["trade_offs"] = trade_offs_json(plan);
  out["rule"] = {{"name", plan.rule.name}, {"text", plan.rule.text}, {"holds", plan.rule.holds}};
  out["extrapolates"] = !plan.best.front().outside.empty();
  out["outside"] = plan.best.front().outside;
  out["warnings"] = plan.warnings;
  return out;
}

Json to_json(const PlannedRecipe& recipe, const Plan& plan) {
  const auto& best = plan.best.front().setting;
  const auto& config = recipe.config;
  return {{"d_model", config.model.d_model},
          {"heads", config.model.heads},
          {"head_dim", config.model.head_dim},
          {"d_ff", config.model.d_ff},
          {"loops", config.loops.forward},
          {"backward_loops", config.loops.backward},
          {"steps", config.train.steps},
          {"n_total", recipe.parameters},
          {"n_total_error", recipe.parameters / best.n_total - 1},
          {"recurrent_share", recipe.recurrent_share},
          {"tokens", recipe.tokens},
          {"flops", recipe.flops},
          {"flops_error", recipe.flops / best.flops - 1},
          {"memory_bytes", recipe.bytes},
          {"notes", recipe.notes}};
}

}  // namespace rondo
