// The autograd node around the fused core.
#include "model/rlt_fused.h"

#include <algorithm>
#include <iterator>
#include <numeric>
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

// For every row of a tape, position by position, where it lies among sequences one after the other.
Tensor order_of(const std::vector<std::int64_t>& lengths, const PositionRows& rows) {
  std::vector<std::int64_t> begins, order;
  std::exclusive_scan(lengths.begin(), lengths.end(), std::back_inserter(begins), std::int64_t{0});
  for (std::int64_t t = 0; t < rows.positions(); ++t)
    for (std::int64_t b = 0; b < rows.at(t); ++b)
      order.push_back(begins[static_cast<std::size_t>(b)] + t);
  return at::tensor(order);
}

// [B, T, …] or [1, N, …] as rows, position by position.
Tensor in_rows(const CoreTape& tape, const Tensor& x) {
  if (!x.defined()) return x;
  if (!tape.order.defined()) return x.transpose(0, 1).contiguous().flatten(0, 1);
  return x.squeeze(0).index_select(0, tape.order);
}

// Back again.
Tensor in_sequences(const CoreTape& tape, const Tensor& x) {
  if (!x.defined()) return x;
  if (!tape.order.defined())
    return x.unflatten(0, {tape.rows.positions(), tape.rows.at(0)}).transpose(0, 1);
  return at::empty_like(x).index_copy_(0, tape.order, x).unsqueeze(0);
}

// Where a layer's keys lie: past positions, in which every sequence takes part, and the tape's.
KeyPlaces window_places(const CoreTape& tape) {
  const auto& config = tape.setting.config;
  const auto row = config.kv_heads * config.head_dim, sequences = tape.rows.at(0);
  KeyPlaces places{.position = {}, .sequence = {}, .head = config.head_dim};
  for (std::int64_t t = 0; t < tape.past; ++t) places.position.push_back(t * sequences * row);
  for (std::int64_t t = 0; t < tape.rows.positions(); ++t)
    places.position.push_back((tape.past * sequences + tape.rows.before(t)) * row);
  for (std::int64_t b = 0; b < sequences; ++b) places.sequence.push_back(b * row);
  return places;
}

KeyPlaces memory_places(const CoreTape& tape) {
  const auto& k = tape.memory.k_BHSK;
  if (!k.defined()) return {};
  if (!tape.setting.lengths.empty()) {
    const auto row = k.size(1) * k.size(2);
    KeyPlaces places{.position = {}, .sequence = {0}, .head = k.size(2)};
    for (std::int64_t t = 0; t < tape.rows.positions(); ++t) places.position.push_back(t * row);
    for (const auto length : tape.setting.lengths)
      places.sequence.push_back(places.sequence.back() + length * row);
    return places;
  }
  const auto heads = k.size(1), length = k.size(2), width = k.size(3);
  KeyPlaces places{.position = {}, .sequence = {}, .head = length * width};
  for (std::int64_t t = 0; t < length; ++t) places.position.push_back(t * width);
  for (std::int64_t b = 0; b < k.size(0); ++b)
    places.sequence.push_back(b * heads * length * width);
  return places;
}

class FusedCore : public torch::autograd::Function<FusedCore> {
 public:
  static Tensor forward(Context* context, CoreTape& tape, DecoderState& state,
                        at::TensorList inputs) {
    static_cast<void>(inputs);  // the tape has them; the list tells the graph
    run_forward(tape, state);
    auto out = in_sequences(tape, tape.out).contiguous();
    if (tape.keeps)
      context->saved_data["tape"] =
          c10::IValue::make_capsule(c10::make_intrusive<TapeHolder>(std::move(tape)));
    return out;
  }

  static Variables backward(Context* context, Variables slopes) {
    const auto holder = context->saved_data["tape"].toCapsule();
    const auto& tape = static_cast<TapeHolder&>(*holder).tape;
    auto d = run_backward(tape, in_rows(tape, slopes[0]));
    Variables result(2);  // none for tape and state
    for (auto& tensor :
         in_order(in_sequences(tape, d.e), in_sequences(tape, d.gate_of_e), d.memory, d.weights))
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
  const bool uneven = !setting.lengths.empty();
  const auto end = state.position + (uneven ? setting.lengths.front() : e_BTD.size(1));
  const bool reaches = weights.decoder.empty() || (uneven ? memory.k_BHSK.size(0) == e_BTD.size(1)
                                                          : memory.k_BHSK.size(2) >= end);
  if (setting.rotary.cos.size(0) < end || !reaches)
    throw std::logic_error("the rotary table and the memory must reach to the last position");
  const auto inputs = in_order(e_BTD, gate_of_e_BTD, memory, weights);
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
  tape.rows =
      uneven ? PositionRows::of(setting.lengths) : PositionRows::even(e_BTD.size(1), e_BTD.size(0));
  tape.places = tape.rows.positions_of_rows();
  if (uneven) tape.order = order_of(setting.lengths, tape.rows);
  tape.window_places = window_places(tape);
  tape.memory_places = memory_places(tape);
  tape.chunks =
      chunks_of(state.position, tape.rows.positions(), weights.merge ? setting.interval : 0);
  tape.register_rows = {0};
  for (const auto& chunk : tape.chunks)
    tape.register_rows.push_back(tape.register_rows.back() + tape.sequences(chunk));
  tape.e = in_rows(tape, e_BTD.detach());
  tape.gate_of_e = in_rows(tape, gate_of_e_BTD.defined() ? gate_of_e_BTD.detach() : gate_of_e_BTD);
  if (state.register_BD.defined()) state.register_BD = state.register_BD.detach().contiguous();
  return FusedCore::apply(tape, state, at::TensorList(inputs));
}

}  // namespace rondo
