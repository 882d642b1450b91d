// The first state, and one loop around the core.
#include "model/looped_step.h"

#include "base/error.h"
#include "base/rng.h"

namespace rondo {
namespace {

/// Standard normals scaled by state_std, one stream a row, so that neither batching nor length
/// changes the numbers of a row's first positions.
Tensor random_state(const LoopedInput& input, const Tensor& like_BTD, double spread,
                    std::int64_t first) {
  const auto rows = like_BTD.size(0);
  auto state = at::empty({rows, like_BTD.size(1), like_BTD.size(2)}, at::kFloat);
  const auto row_size = static_cast<std::size_t>(like_BTD.size(1) * like_BTD.size(2));
  const auto from = static_cast<std::uint64_t>(first * like_BTD.size(2));
  at::parallel_for(0, rows, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      const auto row = static_cast<std::size_t>(b);
      const auto key = row < input.sample_keys.size() ? input.sample_keys[row] : row;
      RandomStream(input.state_seed, "state", key)
          .fill_normal({state.data_ptr<float>() + row * row_size, row_size}, from);
    }
  });
  return state.mul_(spread).to(like_BTD.dtype());
}

}  // namespace

Tensor first_state(const ModelConfig& config, const LoopedInput& input, const Tensor& e_BTD,
                   std::int64_t first) {
  switch (config.state_init) {
    case StateInit::kPrelude:
      return e_BTD;
    case StateInit::kZero:
      return at::zeros_like(e_BTD.detach());
    case StateInit::kNormal:
      return random_state(input, e_BTD, config.state_std, first);
  }
  return e_BTD;
}

std::int64_t time_grid(const ModelConfig& config, std::int64_t loops) {
  if (config.timestep == TimestepForm::kNone || config.timestep_grid == TimestepGrid::kRescaled)
    return loops;
  require(loops <= config.trained_loops,
          "{} loops on the timestep grid \"prefix\", which ends with the {} of training "
          "(loops.forward); run at most as many, or use the grid \"rescaled\"",
          loops, config.trained_loops);
  return config.trained_loops;
}

const Tensor& head_weight(const LoopedLm& model) {
  return model.head ? model.head->weight.value : model.embed.weight.value;
}

Tensor head_logits(const LoopedLm& model, const Tensor& normed_BTD) {
  return shape_logits(project(normed_BTD, head_weight(model)), model.config.logit_scale,
                      model.config.logit_softcap);
}

void LoopParts::append_to(std::vector<Tensor>& list) const {
  inject.append_to(list);
  history.append_to(list);
  time.append_to(list);
  if (norm.defined()) list.push_back(norm);
}

LoopParts LoopParts::rebuilt(const std::vector<Tensor>& list, std::size_t& next) const {
  LoopParts parts{.inject = inject.rebuilt(list, next),
                  .history = history.rebuilt(list, next),
                  .time = time.rebuilt(list, next),
                  .norm = {}};
  if (norm.defined()) parts.norm = list[next++];
  return parts;
}

Tensor end_loop(const LoopGates& gates, const Tensor& norm, const LoopPoint& point, Tensor y_BTD,
                const BlockContext& context) {
  // h + g (y − h), in a form that leaves y alone, bit for bit, where g = 1.
  if (gates.loop.defined()) y_BTD = lean(y_BTD, point.state, {y_BTD}, {gates.loop}, context.form);
  return norm.defined() ? rms_norm(y_BTD, norm, context.config.norm_eps, context.form) : y_BTD;
}

Tensor one_loop(const LoopParts& parts, const LoopPoint& point, const BlockContext& context,
                const CoreLayers& core) {
  const auto& h_BTD = point.state;
  const auto injected_BTD = apply(parts.inject, h_BTD);
  const auto z_BTD = apply(parts.history, injected_BTD, h_BTD, point.past, context.form);
  const auto gates = parts.time.at(point.loop);
  return end_loop(gates, parts.norm, point, core(z_BTD, gates.branches), context);
}

}  // namespace rondo
