// The autograd node around the fused core.
#include "model/rlt_fused.h"

#include <algorithm>
#include <stdexcept>

#include "model/rlt_tape.h"
#include "tensor/fused.h"

namespace rondo {
namespace {

using Context = torch::autograd::AutogradContext;
using Variables = torch::autograd::variable_list;

struct TapeHolder : torch::CustomClassHolder {
  explicit TapeHolder(CoreTape t) : tape(std::move(t)) {}
  CoreTape tape;
};

// All tensors that gradients flow to, in a fixed order: of the merge without what gate_of_e stands
// for already.
std::vector<Tensor> in_order(const Tensor& e, const Tensor& gate_of_e, const MemoryKv& memory,
                             const CoreWeights& weights) {
  std::vector<Tensor> list = {e};
  if (weights.merge) {
    const auto& merge = *weights.merge;
    list.insert(list.end(), {gate_of_e, merge.norm, merge.gate_and_state.value, merge.initial});
  }
  if (weights.decoder.empty()) return list;
  list.insert(list.end(), {memory.k_BHSK, memory.v_BHSK});
  for (const auto& block : weights.decoder) block.append_to(list);
  return list;
}

CoreWeights detached(const CoreWeights& weights) {
  std::vector<Tensor> list;
  weights.append_to(list);
  for (auto& tensor : list) tensor = tensor.detach();
  std::size_t next = 0;
  return weights.rebuilt(list, next);
}

class FusedCore : public torch::autograd::Function<FusedCore> {
 public:
  static Tensor forward(Context* context, CoreTape& tape, DecoderState& state,
                        at::TensorList inputs) {
    static_cast<void>(inputs);  // the tape has them; the list tells the graph
    run_forward(tape, state);
    auto out = tape.out.transpose(0, 1).contiguous();
    if (tape.keeps)
      context->saved_data["tape"] =
          c10::IValue::make_capsule(c10::make_intrusive<TapeHolder>(std::move(tape)));
    return out;
  }

  static Variables backward(Context* context, Variables slopes) {
    const auto holder = context->saved_data["tape"].toCapsule();
    const auto& tape = static_cast<TapeHolder&>(*holder).tape;
    auto d = run_backward(tape, slopes[0].transpose(0, 1).contiguous());
    const auto sequences_first = [](const Tensor& x) {
      return x.defined() ? x.transpose(0, 1) : x;
    };
    Variables result(2);  // none for tape and state
    for (auto& tensor :
         in_order(sequences_first(d.e), sequences_first(d.gate_of_e), d.memory, d.weights))
      result.push_back(std::move(tensor));
    return result;
  }
};

}  // namespace

bool suits_fused_core(const CoreSetting& setting, const Tensor& e_BTD, const DecoderState& state) {
  if (setting.form != Form::kFused || !fused::suits(e_BTD)) return false;
  if (!at::GradMode::is_enabled()) return true;
  const auto flows = [](const Tensor& x) { return x.defined() && x.requires_grad(); };
  if (state.position > 0 && flows(state.register_BD)) return false;
  for (const auto& [k, v] : state.windows)
    if (flows(k) || flows(v)) return false;
  return setting.state_is_cut;
}

Tensor run_fused_core(const CoreWeights& weights, const CoreSetting& setting, const Tensor& e_BTD,
                      const Tensor& gate_of_e_BTD, const MemoryKv& memory, DecoderState& state) {
  // The loops look at memory directly, so what lies too short must not come this far.
  const auto end = state.position + e_BTD.size(1);
  if (setting.rotary.cos.size(0) < end || (!weights.decoder.empty() && memory.k_BHSK.size(2) < end))
    throw std::logic_error("the rotary table and the memory must reach to the last position");
  const auto inputs = in_order(e_BTD, gate_of_e_BTD, memory, weights);
  const auto time_first = [](const Tensor& x) {
    return x.defined() ? x.detach().transpose(0, 1).contiguous() : x;
  };
  const auto held = [](const Tensor& x) { return x.defined() ? x.detach().contiguous() : x; };
  CoreTape tape;
  tape.setting = setting;
  tape.weights = detached(weights);
  tape.memory = {held(memory.k_BHSK), held(memory.v_BHSK), memory.k_gradient, memory.v_gradient};
  tape.position = state.position;
  tape.past = state.windows.empty() || !state.windows.front().k_BGSK.defined()
                  ? 0
                  : state.windows.front().k_BGSK.size(2);
  tape.keeps = at::GradMode::is_enabled() &&
               std::ranges::any_of(inputs, [](const auto& x) { return x.requires_grad(); });
  tape.fresh = state.position == 0;
  tape.chunks = chunks_of(state.position, e_BTD.size(1), weights.merge ? setting.interval : 0);
  tape.e = time_first(e_BTD);
  tape.gate_of_e = time_first(gate_of_e_BTD);
  if (state.register_BD.defined()) state.register_BD = state.register_BD.detach().contiguous();
  return FusedCore::apply(tape, state, at::TensorList(inputs));
}

}  // namespace rondo
