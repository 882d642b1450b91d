// Building and running the looped language model.
#include "model/looped_lm.h"

#include <algorithm>

#include "model/looped_step.h"
#include "nn/init.h"
#include "nn/rotary.h"
#include "tensor/by_parts.h"

namespace rondo {
namespace {

std::vector<Block> make_blocks(const ModelConfig& config, std::int64_t count) {
  return std::vector<Block>(static_cast<std::size_t>(count), make_block(config));
}

std::vector<PackedBlock> pack_all(const std::vector<Block>& blocks) {
  std::vector<PackedBlock> packed;
  for (const auto& block : blocks) packed.push_back(pack(block));
  return packed;
}

/// Runs the blocks of a part from `first` on. `gates` has one for each block, or none.
Tensor run_blocks(std::string_view part, const std::vector<PackedBlock>& blocks,
                  std::span<const BranchGates> gates, std::int64_t first, std::int64_t loop,
                  Tensor x_BTD, const BlockContext& context, const BlockObserver& observe) {
  for (auto i = static_cast<std::size_t>(first); i < blocks.size(); ++i) {
    auto after = forward(blocks[i], x_BTD, context, gates.empty() ? BranchGates{} : gates[i]);
    if (observe) observe({part, static_cast<std::int64_t>(i), loop, x_BTD, after});
    x_BTD = std::move(after);
  }
  return x_BTD;
}

/// PackedBlock::rebuilt() of each.
std::vector<PackedBlock> rebuilt_all(const std::vector<PackedBlock>& blocks,
                                     const std::vector<Tensor>& list, std::size_t& next) {
  std::vector<PackedBlock> rebuilt;
  for (const auto& block : blocks) rebuilt.push_back(block.rebuilt(list, next));
  return rebuilt;
}

/// Tokens whose loss is taken together: fewer slow the products down.
constexpr std::int64_t kTokensAtOnce = 512;

/// allowed[b, i, j]: position i may attend to j, as both lie in one document.
Tensor same_document(const Tensor& documents_BT) {
  if (!documents_BT.defined()) return {};
  return documents_BT.unsqueeze(2) == documents_BT.unsqueeze(1);
}

}  // namespace

bool passes_nest(const ModelConfig& config) {
  return config.timestep == TimestepForm::kNone || config.timestep_grid == TimestepGrid::kPrefix;
}

LoopedLm make_looped_lm(const ModelConfig& config) {
  LoopedLm model{
      .config = config,
      .embed = make_linear(config.vocab, config.d_model, Role::kEmbedding),
      .prelude = make_blocks(config, config.prelude_layers),
      .core = make_blocks(config, config.core_layers),
      .coda = make_blocks(config, config.coda_layers),
      .inject = make_inject(config),
      .history = make_history(config),
      .timestep = make_timestep(config),
      .loop_norm = {},
      .final_norm = make_norm(config.d_model),
      .head = {},
  };
  if (config.loop_norm) model.loop_norm = make_norm(config.d_model);
  if (!config.tied_head) model.head = make_linear(config.vocab, config.d_model, Role::kHead);
  return model;
}

LoopedLm initial_looped_lm(const ModelConfig& config, std::uint64_t seed) {
  auto model = make_looped_lm(config);
  visit_parameters(model, [&](const std::string& name, Parameter& parameter) {
    initialise(name, parameter, config, seed);
  });
  return model;
}

LoopedPass::LoopedPass(const LoopedLm& model, const LoopedInput& input,
                       BlockObserver observe_blocks)
    : LoopedPass(model, input, Tensor(), std::move(observe_blocks)) {}

LoopedPass::LoopedPass(const LoopedLm& model, const LoopedInput& input, const Tensor& e_BTD,
                       BlockObserver observe_blocks)
    : model_(model),
      context_{.config = model.config,
               .rotary = make_rotary(model.config, input.tokens_BT.size(1),
                                     model.embed.weight.value.scalar_type()),
               .allowed_BTT = same_document(input.documents_BT),
               .form = model.form},
      core_(pack_all(model.core)),
      coda_(pack_all(model.coda)),
      observe_blocks_(std::move(observe_blocks)) {
  e_BTD_ = e_BTD.defined() ? e_BTD
                           : prelude(at::embedding(model.embed.weight.value, input.tokens_BT), 0);
  inject_ = prepare(model.inject, e_BTD_);
  history_ = prepare(model.history, model.config.d_model);
  initial_ = first_state(model.config, input, e_BTD_);
}

Tensor LoopedPass::run(const LoopPlan& plan, const LoopObserver& observe) const {
  return run_from({initial_, 0, {}}, plan, observe);
}

Tensor LoopedPass::run_from(LoopPoint point, const LoopPlan& plan,
                            const LoopObserver& observe) const {
  const auto last = point.loop + plan.loops;
  const auto time = prepare(model_.timestep, model_.config,
                            time_grid(model_.config, plan.of > 0 ? plan.of : last));
  const LoopParts parts{.inject = inject_,
                        .history = history_,
                        .time = time,
                        .norm = model_.loop_norm ? model_.loop_norm->weight.value : Tensor()};
  std::vector<Tensor> shared;
  parts.append_to(shared);
  for (const auto& block : core_) block.append_to(shared);

  // The step owns all it needs: with recomputation it runs again in the backward pass, when this
  // object may be gone.
  const LoopStep step = [parts, core = core_, context = context_, observe = observe_blocks_](
                            const LoopPoint& at, const std::vector<Tensor>& tensors) {
    std::size_t next = 0;
    const auto rebuilt = parts.rebuilt(tensors, next);
    const auto blocks = rebuilt_all(core, tensors, next);
    return one_loop(rebuilt, at, context,
                    [&](const Tensor& z_BTD, const std::vector<BranchGates>& gates) {
                      return run_blocks("core", blocks, gates, 0, at.loop, z_BTD, context, observe);
                    });
  };
  return unroll(step, std::move(point), shared, plan, history_.lags.size(), observe);
}

Tensor LoopedPass::finish_loop(const LoopPoint& point, std::int64_t first, Tensor x_BTD,
                               std::int64_t of) const {
  const auto time = prepare(model_.timestep, model_.config, time_grid(model_.config, of));
  const auto gates = time.at(point.loop);
  auto y_BTD = run_blocks("core", core_, gates.branches, first, point.loop, std::move(x_BTD),
                          context_, observe_blocks_);
  return end_loop(gates, model_.loop_norm ? model_.loop_norm->weight.value : Tensor(), point,
                  std::move(y_BTD), context_);
}

void LoopedPass::advance(LoopPoint& point, Tensor state_BTD) const {
  rondo::advance(point, std::move(state_BTD), history_.lags.size());
}

void LoopedPass::run_each(std::span<const std::int64_t> loops, const LoopObserver& observe) const {
  if (loops.empty()) return;
  if (passes_nest(model_.config)) {
    run({.loops = loops.back()}, [&](std::int64_t loop, const Tensor& state) {
      if (std::find(loops.begin(), loops.end(), loop) != loops.end()) observe(loop, state);
    });
    return;
  }
  for (const auto count : loops) observe(count, run({.loops = count}));
}

Tensor LoopedPass::prelude(Tensor x_BTD, std::int64_t first) const {
  return run_blocks("prelude", pack_all(model_.prelude), {}, first, 0, std::move(x_BTD), context_,
                    observe_blocks_);
}

Tensor LoopedPass::coda(Tensor x_BTD, std::int64_t first) const {
  return run_blocks("coda", coda_, {}, first, 0, std::move(x_BTD), context_, observe_blocks_);
}

Tensor LoopedPass::final_norm(const Tensor& x_BTD) const {
  return rms_norm(x_BTD, model_.final_norm.weight.value, model_.config.norm_eps, context_.form);
}

Tensor LoopedPass::head(const Tensor& normed) const { return head_logits(model_, normed); }

Tensor LoopedPass::read_out(const Tensor& state_BTD) const {
  return final_norm(run_blocks("coda", coda_, {}, 0, 0, state_BTD, context_, {}));
}

Tensor LoopedPass::summed_loss(const Tensor& state_BTD, const Tensor& targets_N) const {
  const auto& head = head_weight(model_);
  const auto& config = model_.config;
  const auto loss = [&](const Tensor& h_BTD, const Tensor& weight, const Tensor& targets) {
    return head_loss(h_BTD.flatten(0, 1), weight, targets, config.logit_scale, config.logit_softcap,
                     context_.form);
  };
  if (context_.form != Form::kFused) return loss(read_out(state_BTD), head, targets_N);

  // Behind the loops sequences part ways: some at a time go forward and back, so that what the coda
  // keeps of the others is not there beside what the loops keep of all.
  std::vector<Tensor> shared = {head, model_.final_norm.weight.value};
  for (const auto& block : coda_) block.append_to(shared);
  const auto length = state_BTD.size(1);
  const PartSum part = [&](const Tensor& part_BTD, std::int64_t first,
                           const std::vector<Tensor>& tensors) {
    const auto rows = part_BTD.size(0);
    auto context = context_;
    if (context.allowed_BTT.defined())
      context.allowed_BTT = context.allowed_BTT.narrow(0, first, rows);
    std::size_t next = 2;
    auto h_BTD =
        run_blocks("coda", rebuilt_all(coda_, tensors, next), {}, 0, 0, part_BTD, context, {});
    h_BTD = rms_norm(h_BTD, tensors[1], config.norm_eps, context.form);
    return loss(h_BTD, tensors[0], targets_N.narrow(0, first * length, rows * length));
  };
  return summed_by_parts(part, state_BTD, shared,
                         std::max<std::int64_t>(1, kTokensAtOnce / length));
}

Tensor LoopedPass::logits(const Tensor& state_BTD) const { return head(read_out(state_BTD)); }

}  // namespace rondo
