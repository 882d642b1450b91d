// Building and running the looped language model.
#include "model/looped_lm.h"

#include <algorithm>

#include "base/error.h"
#include "base/rng.h"
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

Tensor run_blocks(const std::vector<PackedBlock>& blocks, Tensor x_BTD,
                  const BlockContext& context) {
  for (const auto& block : blocks) x_BTD = forward(block, x_BTD, context);
  return x_BTD;
}

/// Tokens whose loss is taken together: fewer slow the products down.
constexpr std::int64_t kTokensAtOnce = 512;

/// allowed[b, i, j]: position i may attend to j, as both lie in one document.
Tensor same_document(const Tensor& documents_BT) {
  if (!documents_BT.defined()) return {};
  return documents_BT.unsqueeze(2) == documents_BT.unsqueeze(1);
}

/// Standard normals scaled by state_std, one stream a row, so that neither batching nor length
/// changes the numbers of a row's first positions.
Tensor random_state(const LoopedInput& input, const Tensor& like_BTD, double spread) {
  const auto rows = like_BTD.size(0);
  auto state = at::empty({rows, like_BTD.size(1), like_BTD.size(2)}, at::kFloat);
  const auto row_size = static_cast<std::size_t>(like_BTD.size(1) * like_BTD.size(2));
  at::parallel_for(0, rows, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      const auto row = static_cast<std::size_t>(b);
      const auto key = row < input.sample_keys.size() ? input.sample_keys[row] : row;
      RandomStream(input.state_seed, "state", key)
          .fill_normal({state.data_ptr<float>() + row * row_size, row_size});
    }
  });
  return state.mul_(spread).to(like_BTD.dtype());
}

Tensor first_state(const ModelConfig& config, const LoopedInput& input, const Tensor& e_BTD) {
  switch (config.state_init) {
    case StateInit::kPrelude:
      return e_BTD;
    case StateInit::kZero:
      return at::zeros_like(e_BTD.detach());
    case StateInit::kNormal:
      return random_state(input, e_BTD, config.state_std);
  }
  return e_BTD;
}

/// T_g of a pass whose last loop is number `loops` − 1.
std::int64_t time_grid(const ModelConfig& config, std::int64_t loops) {
  if (config.timestep == TimestepForm::kNone || config.timestep_grid == TimestepGrid::kRescaled)
    return loops;
  require(loops <= config.trained_loops,
          "{} loops on the timestep grid \"prefix\", which ends with the {} of training "
          "(loops.forward); run at most as many, or use the grid \"rescaled\"",
          loops, config.trained_loops);
  return config.trained_loops;
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

LoopedPass::LoopedPass(const LoopedLm& model, const LoopedInput& input)
    : model_(model),
      context_{.config = model.config,
               .rotary = make_rotary(model.config, input.tokens_BT.size(1),
                                     model.embed.weight.value.scalar_type()),
               .allowed_BTT = same_document(input.documents_BT),
               .form = model.form},
      core_(pack_all(model.core)),
      coda_(pack_all(model.coda)) {
  const auto embedded_BTD = at::embedding(model.embed.weight.value, input.tokens_BT);
  const auto e_BTD = run_blocks(pack_all(model.prelude), embedded_BTD, context_);
  inject_ = prepare(model.inject, e_BTD);
  history_ = prepare(model.history, model.config.d_model);
  initial_ = first_state(model.config, input, e_BTD);
}

Tensor LoopedPass::run(const LoopPlan& plan, const LoopObserver& observe) const {
  return run_from({initial_, 0, {}}, plan, observe);
}

Tensor LoopedPass::run_from(LoopPoint point, const LoopPlan& plan,
                            const LoopObserver& observe) const {
  const auto last = point.loop + plan.loops;
  const auto time = prepare(model_.timestep, model_.config, time_grid(model_.config, last));
  std::vector<Tensor> shared;
  inject_.append_to(shared);
  history_.append_to(shared);
  time.append_to(shared);
  for (const auto& block : core_) block.append_to(shared);
  if (model_.loop_norm) shared.push_back(model_.loop_norm->weight.value);

  // The step owns all it needs: with recomputation it runs again in the backward pass, when this
  // object may be gone.
  const LoopStep step = [inject = inject_, history = history_, time, core = core_,
                         context = context_, normed = model_.loop_norm.has_value()](
                            const LoopPoint& at, const std::vector<Tensor>& tensors) {
    std::size_t next = 0;
    const auto& h_BTD = at.state;
    auto y_BTD = apply(inject.rebuilt(tensors, next), h_BTD);
    y_BTD = apply(history.rebuilt(tensors, next), y_BTD, h_BTD, at.past, context.form);
    const auto gates = time.rebuilt(tensors, next).at(at.loop);
    for (std::size_t i = 0; i < core.size(); ++i)
      y_BTD = forward(core[i].rebuilt(tensors, next), y_BTD, context,
                      gates.branches.empty() ? BranchGates{} : gates.branches[i]);
    // h + g (y − h), in a form that leaves y alone, bit for bit, where g = 1.
    if (gates.loop.defined()) y_BTD = lean(y_BTD, h_BTD, {y_BTD}, {gates.loop}, context.form);
    return normed ? rms_norm(y_BTD, tensors[next], context.config.norm_eps, context.form) : y_BTD;
  };
  return unroll(step, std::move(point), shared, plan, history_.lags.size(), observe);
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

Tensor LoopedPass::read_out(const Tensor& state_BTD) const {
  return rms_norm(run_blocks(coda_, state_BTD, context_), model_.final_norm.weight.value,
                  model_.config.norm_eps, context_.form);
}

Tensor LoopedPass::summed_loss(const Tensor& state_BTD, const Tensor& targets_N) const {
  const auto& head = model_.head ? model_.head->weight.value : model_.embed.weight.value;
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
    auto h_BTD = part_BTD;
    for (const auto& block : coda_) h_BTD = forward(block.rebuilt(tensors, next), h_BTD, context);
    h_BTD = rms_norm(h_BTD, tensors[1], config.norm_eps, context.form);
    return loss(h_BTD, tensors[0], targets_N.narrow(0, first * length, rows * length));
  };
  return summed_by_parts(part, state_BTD, shared,
                         std::max<std::int64_t>(1, kTokensAtOnce / length));
}

Tensor LoopedPass::head(const Tensor& read) const {
  const auto& weight = model_.head ? model_.head->weight.value : model_.embed.weight.value;
  return shape_logits(project(read, weight), model_.config.logit_scale,
                      model_.config.logit_softcap);
}

Tensor LoopedPass::logits(const Tensor& state_BTD) const { return head(read_out(state_BTD)); }

}  // namespace rondo
