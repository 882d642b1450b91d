// The description of a recipe as JSON.
#include "cost/describe.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "config/kinds.h"
#include "cost/flops.h"
#include "cost/groups.h"
#include "cost/horizon.h"
#include "cost/memory.h"
#include "cost/time.h"

namespace rondo {
namespace {

/// Whole numbers are written without a decimal point as long as a double holds them exactly.
Json number(double value) {
  if (std::abs(value) < 0x1p53 && value == std::floor(value))
    return static_cast<std::int64_t>(value);
  return value;
}

double tokens_per_step(const Config& config) {
  return static_cast<double>(config.train.batch) * static_cast<double>(config.data.sequence_length);
}

Json parameters_json(const ParameterCounts& counts) {
  return {{"total", counts.total},
          {"embedding", counts.embedding},
          {"once", counts.once},
          {"recurrent", counts.recurrent},
          {"non_embedding", counts.non_embedding()},
          {"n_once_matrices", counts.n_once_matrices},
          {"n_rec_matrices", counts.n_rec_matrices}};
}

Json flops_json(const FlopsPerToken& flops) {
  return {{"forward", number(flops.forward)},
          {"train", number(flops.train)},
          {"train_matmul", number(flops.train_matmul)},
          {"train_attention", number(flops.train_attention)},
          {"train_head", number(flops.train_head)}};
}

/// The micro-batch that activations are estimated for: the recipe's, else what fits, else all.
std::int64_t micro_batch_for(const Config& config, std::int64_t vocab,
                             const DescribeOptions& options) {
  if (config.train.micro_batch > 0) return config.train.micro_batch;
  if (options.memory_budget_bytes <= 0) return config.train.batch;
  const auto fitting =
      largest_micro_batch(config, vocab, options.memory_budget_bytes, options.head_chunk_tokens);
  return fitting > 0 ? fitting : 1;
}

Json memory_json(const Config& config, std::int64_t vocab, const DescribeOptions& options) {
  const MemoryOptions memory{micro_batch_for(config, vocab, options), options.head_chunk_tokens};
  const auto bytes = memory_bytes(config, vocab, memory);
  const auto terms = activation_bytes(config, vocab, memory);
  return {{"weights", number(bytes.weights)},
          {"gradients", number(bytes.gradients)},
          {"optimizer", number(bytes.optimizer)},
          {"activations", number(bytes.activations)},
          {"total", number(bytes.total())},
          {"kv_cache_per_token", number(bytes.kv_cache_per_token)},
          {"micro_batch", memory.micro_batch},
          {"activation_terms",
           {{"tokens", number(terms.tokens)},
            {"once", number(terms.once)},
            {"loops", number(terms.loops)},
            {"head", number(terms.head)},
            {"scratch", number(terms.scratch)},
            {"packed", number(terms.packed)},
            {"slack", number(terms.slack)}}}};
}

Json horizon_json(const Config& config) {
  const auto horizon = gradient_horizon(config);
  Json groups = Json::array();
  for (const auto& group : horizon.groups)
    groups.push_back({{"tensors", group.tensors},
                      {"loops", group.loops},
                      {"trained", group.trained},
                      {"why", group.sentence}});
  return {{"loops", horizon.loops}, {"tokens", horizon.tokens}, {"groups", groups}};
}

Json sharing_json(const Config& config) {
  Json list = Json::array();
  for (const auto& shared : sharing(config)) {
    Json entry = {{"tensors", shared.tensors}, {"uses", shared.uses}};
    if (shared.alias) entry["alias"] = *shared.alias;
    list.push_back(entry);
  }
  return list;
}

Json optimizer_json(const Config& config, std::int64_t vocab) {
  Json list = Json::array();
  for (const auto& group : optimizer_groups(config, vocab))
    list.push_back({{"name", group.name},
                    {"tensors", group.tensors},
                    {"optimizer", group.optimizer},
                    {"weight_decay", group.weight_decay},
                    {"lr_scale", group.lr_scale},
                    {"tensor_count", group.tensor_count},
                    {"parameters", group.parameters}});
  return list;
}

/// Figures of the whole run. They use the means over the draws where loops are sampled, since that
/// is what the run will have counted at its end.
void add_run(Json& out, const Config& config) {
  const auto flops = expected_flops_per_token(config);
  const auto loops = expected_loops(config.loops, config.train.steps);
  const double tokens = tokens_per_step(config) * static_cast<double>(config.train.steps);
  const auto non_embedding = out["parameters"]["non_embedding"].get<double>();
  if (config.loops.sampler != Sampler::kFixed) {
    out["expected_loops"] = {{"forward", loops.forward}, {"backward", loops.backward}};
    out["expected_flops_per_token"] = flops_json(flops);
  }
  out["tokens"] = number(tokens);
  out["tokens_per_parameter"] = non_embedding > 0 ? Json(tokens / non_embedding) : Json();
  out["total_flops"] = number(flops.train_matmul * tokens);
  out["total_flops_with_attention_and_head"] = number(flops.train * tokens);
}

Json terms_json(const StepSeconds& seconds) {
  return {{"matmul", seconds.matmul},           {"attention", seconds.attention},
          {"elementwise", seconds.elementwise}, {"head", seconds.head},
          {"optimizer", seconds.optimizer},     {"overhead", seconds.overhead}};
}

/// Time of a step and of the run.
Json seconds_json(const Config& config, std::int64_t vocab, std::int64_t micro_batch,
                  const MachineSpeed& speed) {
  const auto step = step_seconds(config, vocab, micro_batch, speed);
  const auto run = run_seconds(config, vocab, micro_batch, speed);
  const double flops = expected_flops_per_token(config).train * tokens_per_step(config);
  return {{"step", step.total()},
          {"step_terms", terms_json(step)},
          {"run", run.total()},
          {"run_steps", run.steps},
          {"run_validation", run.validation},
          {"tokens_per_s", tokens_per_step(config) / step.total()},
          {"sustained_gflops", sustained_gflops(config, vocab, micro_batch, speed)},
          {"roof_gflops", speed.roof_gflops()},
          {"roof_share", roof_share(flops, step.total(), speed.roof_gflops())},
          {"bandwidth_gbps", speed.bandwidth_gbps()},
          {"threads", speed.threads},
          {"machine", speed.machine}};
}

/// 1, 2, 4 … up to twice the trained loops, and the trained ones; 1 alone where nothing is looped,
/// and none beyond the trained ones where time ends with them.
std::vector<std::int64_t> inference_loops(const Config& config) {
  const std::int64_t trained = config.loops.forward;
  if (config.model.kind == ModelKind::kRlt || config.model.core_layers == 0 ||
      (trained == 1 && config.loops.sampler == Sampler::kFixed &&
       config.model.injection == Injection::kNone))
    return {1};
  std::vector<std::int64_t> loops;
  const bool ends = config.model.timestep_grid == TimestepGrid::kPrefix;
  for (std::int64_t count = 1; count <= (ends ? 1 : 2) * trained; count *= 2) {
    if (count > trained && !loops.empty() && loops.back() < trained) loops.push_back(trained);
    loops.push_back(count);
  }
  if (loops.back() < trained) loops.push_back(trained);
  return loops;
}

/// What a token costs when a text of the recipe's length is read, and when one is generated after
/// it, by number of loops.
Json inference_json(const Config& config, std::int64_t vocab, const DescribeOptions& options) {
  const std::int64_t length = config.data.sequence_length;
  Json list = Json::array();
  for (const std::int64_t loops : inference_loops(config)) {
    const auto r = static_cast<double>(loops);
    Json entry = {
        {"loops", loops},
        {"flops_per_token", number(flops_per_token(config.model, vocab, length, {r, r}).forward)},
        {"kv_bytes_per_token", number(kv_cache_bytes_per_token(config.model, r))}};
    if (options.speed) {
      const auto prefill = forward_seconds(config, vocab, 1, length, r, 1, *options.speed);
      const auto decode =
          decode_seconds(config, vocab, static_cast<double>(length), r, *options.speed);
      entry["prefill_s_per_token"] = prefill.total() / static_cast<double>(length);
      entry["decode_s_per_token"] = decode.total();
    }
    list.push_back(entry);
  }
  return list;
}

}  // namespace

Json describe(const Config& config, const DescribeOptions& options) {
  const std::int64_t vocab = vocabulary_size(config);
  const auto& model = config.model;
  Json out;
  out["parameters"] = parameters_json(count_parameters(model, vocab));
  out["vocab"] = vocab;
  out["loops"] = {{"forward", config.loops.forward},
                  {"backward", backward_loops(config.loops.forward, config.loops.backward)}};
  out["flops_per_token"] = flops_json(flops_per_token(config));
  out["memory_bytes"] = memory_json(config, vocab, options);
  out["gradient_horizon"] = horizon_json(config);
  out["sharing"] = sharing_json(config);
  out["effective_depth"] = effective_depth(config);
  if (model.kind == ModelKind::kRlt) {
    const auto stages = sequential_stages(config);
    out["decoder_stages"] = {
        {"feedback_interval", model.feedback_interval}, {"sequential", stages.stages},
        {"at_every_token", stages.at_every_token},      {"parallel", stages.parallel},
        {"back_propagated", stages.back_propagated},    {"merges", stages.merges},
        {"merges_back_propagated", stages.merges_back}};
  }
  out["optimizer_groups"] = optimizer_json(config, vocab);
  out["inference"] = inference_json(config, vocab, options);
  add_run(out, config);
  if (options.speed)
    out["seconds"] =
        seconds_json(config, vocab, micro_batch_for(config, vocab, options), *options.speed);
  return out;
}

}  // namespace rondo
