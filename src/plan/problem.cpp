// Arithmetic of budgets.
#include "plan/problem.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "cost/flops.h"

namespace rondo {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

}  // namespace

double Problem::flops_per_parameter(LoopCount loops) const {
  return train_matmul_flops(1 - recurrent_share, recurrent_share, loops);
}

double Problem::inference_per_parameter(LoopCount loops) const {
  return limits.inference_tokens * 2 * (1 - recurrent_share + loops.forward * recurrent_share);
}

double Problem::memory_cap(LoopCount loops) const {
  if (!limits.memory_max) return kUnbounded;
  return memory_limit ? memory_limit(loops) : *limits.memory_max / limits.bytes_per_parameter;
}

double Problem::budget_cap(LoopCount loops) const {
  return limits.flops / (flops_per_parameter(loops) + inference_per_parameter(loops));
}

Span Problem::sizes(LoopCount loops) const {
  double most = std::min(memory_cap(loops), budget_cap(loops));
  if (limits.parameters_max) most = std::min(most, *limits.parameters_max);
  if (!limits.parameters) return {1, most};
  return {*limits.parameters, *limits.parameters <= most ? *limits.parameters : -1};
}

double Problem::tokens_bind_below(LoopCount loops) const {
  if (!limits.tokens_max) return 0;
  return limits.flops /
         (flops_per_parameter(loops) * *limits.tokens_max + inference_per_parameter(loops));
}

Setting Problem::at(LoopCount loops, double n_total, const LawFunction& law) const {
  Setting setting{.loops = loops,
                  .n_once = (1 - recurrent_share) * n_total,
                  .n_rec = recurrent_share * n_total,
                  .n_total = n_total};
  const double per_token = flops_per_parameter(loops) * n_total;
  setting.inference_flops = inference_per_parameter(loops) * n_total;
  const double left = limits.flops - setting.inference_flops;
  setting.tokens = left / per_token;
  if (limits.tokens_max) setting.tokens = std::min(setting.tokens, *limits.tokens_max);
  // Rounding must not carry the product above the budget.
  if (per_token * setting.tokens > left) setting.tokens = std::nextafter(setting.tokens, 0.0);
  setting.flops = per_token * setting.tokens;
  setting.loss_nats = loss(setting, law);
  return setting;
}

LawFunction::Point point_of(const Setting& setting) {
  return {.n_once = setting.n_once,
          .n_rec = setting.n_rec,
          .loops = setting.loops.forward,
          .backward_loops = setting.loops.backward,
          .tokens = setting.tokens};
}

double Problem::loss(const Setting& setting, const LawFunction& law) const {
  auto point = point_of(setting);
  if (limits.unique_tokens) point.unique_tokens = std::min(*limits.unique_tokens, setting.tokens);
  return law(point);
}

Problem Problem::with_flops(double flops) const {
  Problem other = *this;
  other.limits.flops = flops;
  return other;
}

Problem Problem::with_free_size() const {
  Problem other = *this;
  if (limits.parameters) other.limits.parameters_max = limits.parameters;
  other.limits.parameters.reset();
  return other;
}

void refuse_infeasible(const Problem& problem, LoopCount cheapest) {
  const auto& limits = problem.limits;
  const auto at = fmt::format("at T = {:g}, B = {:g}", cheapest.forward, cheapest.backward);
  const double wanted = limits.parameters.value_or(1);
  const double memory = problem.memory_cap(cheapest);
  if (memory < wanted && problem.memory_limit) {
    if (memory < 1)
      fail_work("--memory-max {:g}: {} is too little for any width of the recipe {}",
                *limits.memory_max, bytes(*limits.memory_max), at);
    fail_work(
        "--memory-max {:g} allows at most {:.4g} parameters {} by the recipe's memory model; "
        "--parameters asks for {:g}",
        *limits.memory_max, memory, at, wanted);
  }
  if (memory < wanted)
    fail_work("--memory-max {:g} allows at most {:.4g} parameters of {:g} bytes each; {} {:g}",
              *limits.memory_max, memory, limits.bytes_per_parameter,
              limits.parameters ? "--parameters asks for" : "the smallest model has", wanted);
  if (limits.parameters_max && *limits.parameters_max < wanted)
    fail_work("--parameters-max {:g} is less than one parameter", *limits.parameters_max);
  const double token = problem.flops_per_parameter(cheapest) * wanted;
  const double inference = problem.inference_per_parameter(cheapest) * wanted;
  if (token + inference > limits.flops)
    fail_work("--flops {:g} does not pay for one token {}: with {:g} parameter{} it costs {:.4g}{}",
              limits.flops, at, wanted, wanted == 1 ? "" : "s", token,
              inference > 0 ? fmt::format(", and {:g} tokens of inference {:.4g}",
                                          limits.inference_tokens, inference)
                            : "");
  fail_work("the law gives no finite loss for any setting that the limits allow");
}

}  // namespace rondo
