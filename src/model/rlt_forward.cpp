// The fused recurrent core on its way forward.
#include <algorithm>

#include "model/rlt_tape.h"
#include "tensor/fused_rows.h"
#include "tensor/gemm.h"
#include "tensor/kernels.h"
#include "tensor/profile.h"

namespace rondo {
namespace {

// x W ᵀ into `out`, or added to it.
void project_rows(const Tensor& x, const Weight& weight, const Tensor& out, bool add = false) {
  auto rows = out;
  multiply(x, factor_of(weight).t(), rows, add);
}

class Forward {
 public:
  explicit Forward(CoreTape& tape) : tape_(tape), config_(tape.setting.config) {
    std::int64_t longest = 0;
    for (const auto& chunk : tape.chunks) longest = std::max(longest, tape.row_count(chunk));
    kept_ = tape.keeps ? tape.rows.rows() : longest;
    normed_ = buffer({longest, config_.d_model});
    qkv_ = buffer({longest, (config_.heads + 2 * config_.kv_heads) * config_.head_dim});
    asked_ = buffer({longest, config_.heads * config_.head_dim});
    tape.out = at::empty_like(tape.e);
  }

  void make_layers(const DecoderState& state);
  void merge(std::size_t index, const Tensor& register_BD);
  void layer(std::size_t index, const Chunk& chunk);

 private:
  // [rows, …] in single precision.
  Tensor buffer(at::IntArrayRef shape) const { return at::empty(shape, tape_.e.options()); }
  Placed placed(std::int64_t heads, std::int64_t rows) const;
  Tensor norm(const Tensor& x, const Tensor& gains, const Tensor& scale, const Chunk& chunk) const;
  void attend_to_window(LayerTape& layer, const PackedDecoderBlock& weights, const Chunk& chunk);
  void attend_to_memory(LayerTape& layer, const PackedDecoderBlock& weights, const Chunk& chunk);

  CoreTape& tape_;
  const ModelConfig& config_;
  std::int64_t kept_ = 0;
  Tensor normed_, qkv_, asked_;
};

Placed Forward::placed(std::int64_t heads, std::int64_t rows) const {
  Placed result;
  result.out = buffer({rows, heads, config_.head_dim});
  if (config_.qk_norm == QkNorm::kNone) return result;
  result.in = buffer({kept_, heads, config_.head_dim});
  result.scale = buffer({kept_, heads});
  return result;
}

void Forward::make_layers(const DecoderState& state) {
  const auto front = tape_.past * tape_.rows.at(0), all = front + tape_.rows.rows();
  for (std::size_t i = 0; i < tape_.weights.decoder.size(); ++i) {
    const auto hidden = tape_.weights.decoder[i].block.gate_up.value.size(0);
    LayerTape layer{.z = buffer({kept_, config_.d_model}),
                    .z_scale = buffer({kept_}),
                    .q = placed(config_.heads, kept_),
                    .k = placed(config_.kv_heads, all),
                    .v = buffer({all, config_.kv_heads, config_.head_dim}),
                    .seen = buffer({kept_, config_.heads * config_.head_dim}),
                    .seen_softmax = buffer({kept_, config_.heads, 2}),
                    .b = buffer({kept_, config_.d_model}),
                    .b_scale = buffer({kept_}),
                    .asked = placed(config_.heads, kept_),
                    .read = buffer({kept_, config_.d_model}),
                    .read_softmax = buffer({kept_, config_.heads, 2}),
                    .a = buffer({kept_, config_.d_model}),
                    .a_scale = buffer({kept_}),
                    .gate_up = buffer({kept_, hidden})};
    if (tape_.past > 0) {
      const auto in_rows = [](const Tensor& x_BGSK) {
        return x_BGSK.permute({2, 0, 1, 3}).flatten(0, 1);
      };
      layer.k.out.narrow(0, 0, front).copy_(in_rows(state.windows[i].k_BGSK));
      layer.v.narrow(0, 0, front).copy_(in_rows(state.windows[i].v_BGSK));
    }
    tape_.layers.push_back(std::move(layer));
  }
}

void Forward::merge(std::size_t index, const Tensor& register_BD) {
  const auto& chunk = tape_.chunks[index];
  auto z = tape_.layers.empty() ? tape_.rows_of(tape_.out, chunk)
                                : tape_.part(tape_.layers.front().z, chunk);
  const auto e = tape_.rows_of(tape_.e, chunk);
  if (!tape_.weights.merge) {
    z.copy_(e);
    return;
  }
  const auto& weights = *tape_.weights.merge;
  const auto sequences = tape_.sequences(chunk), width = config_.d_model;
  const auto kept = tape_.register_part(tape_.registers, index),
             merged = tape_.register_part(tape_.merged, index);
  kept.copy_(register_BD.narrow(0, 0, sequences));
  const auto r = normed_.narrow(0, 0, sequences);
  fused::norm_rows_into(kept, weights.norm, config_.norm_eps, r,
                        tape_.register_part(tape_.register_scale, index));
  project_rows(r, weights.gate_and_state, merged);
  const ProfileScope scope(Part::kElementwise);
  const auto first = tape_.first_row(chunk);
  const float* from_e = e.data_ptr<float>();
  const float* gate_e = tape_.gate_of_e.data_ptr<float>() + first * width;
  const float* from_r = merged.data_ptr<float>();
  float* to = z.data_ptr<float>();
  at::parallel_for(0, tape_.row_count(chunk), fused::rows_per_thread(width),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t row = begin; row < end; ++row) {
                       const auto place = tape_.places[static_cast<std::size_t>(first + row)];
                       const auto sequence = first + row - tape_.rows.before(place);
                       const float* gate_r = from_r + sequence * 2 * width;
                       kernels().merge(from_e + row * width, gate_e + row * width, gate_r,
                                       gate_r + width, static_cast<float>(config_.merge_scale),
                                       to + row * width, width);
                     }
                   });
}

Tensor Forward::norm(const Tensor& x, const Tensor& gains, const Tensor& scale,
                     const Chunk& chunk) const {
  const auto out = normed_.narrow(0, 0, tape_.row_count(chunk));
  fused::norm_rows_into(x, gains, config_.norm_eps, out, scale);
  return out;
}

void Forward::attend_to_window(LayerTape& layer, const PackedDecoderBlock& weights,
                               const Chunk& chunk) {
  const auto z = tape_.part(layer.z, chunk), b = tape_.part(layer.b, chunk);
  const auto qkv = qkv_.narrow(0, 0, tape_.row_count(chunk));
  project_rows(norm(z, weights.block.attn_norm, tape_.part(layer.z_scale, chunk), chunk),
               weights.block.qkv, qkv);
  const auto stride = qkv.size(1), queries = config_.heads * config_.head_dim,
             keys = config_.kv_heads * config_.head_dim;
  const auto rows = tape_.row_count(chunk),
             at = tape_.past * tape_.rows.at(0) + tape_.first_row(chunk);
  const auto part = [&](const Tensor& x) { return x.defined() ? tape_.part(x, chunk) : x; };
  const float* raw = qkv.data_ptr<float>();
  Placing(tape_, weights.block.q_norm)
      .forward(raw, stride, chunk, {part(layer.q.in), part(layer.q.scale), part(layer.q.out)});
  Placing(tape_, weights.block.k_norm)
      .forward(raw + queries, stride, chunk,
               {part(layer.k.in), part(layer.k.scale), layer.k.out.narrow(0, at, rows)});
  layer.v.narrow(0, at, rows).flatten(1).copy_(qkv.narrow(1, queries + keys, keys));
  const auto seen = tape_.part(layer.seen, chunk);
  attend_queries(window_queries(tape_, chunk), tape_.part(layer.q.out, chunk).data_ptr<float>(),
                 window_keys(tape_, layer), seen.data_ptr<float>(),
                 softmax_rows(tape_.part(layer.seen_softmax, chunk)));
  b.copy_(z);
  project_rows(seen, weights.block.o, b, true);
}

void Forward::attend_to_memory(LayerTape& layer, const PackedDecoderBlock& weights,
                               const Chunk& chunk) {
  const auto b = tape_.part(layer.b, chunk), a = tape_.part(layer.a, chunk);
  const auto asked = asked_.narrow(0, 0, tape_.row_count(chunk));
  project_rows(norm(b, weights.cross_norm, tape_.part(layer.b_scale, chunk), chunk),
               weights.cross_q, asked);
  const auto part = [&](const Tensor& x) { return x.defined() ? tape_.part(x, chunk) : x; };
  const auto out = part(layer.asked.out);
  Placing(tape_, weights.cross_q_norm)
      .forward(asked.data_ptr<float>(), asked.size(1), chunk,
               {part(layer.asked.in), part(layer.asked.scale), out});
  const auto read = tape_.part(layer.read, chunk);
  attend_queries(memory_queries(tape_, chunk), out.data_ptr<float>(), memory_keys(tape_),
                 read.data_ptr<float>(), softmax_rows(tape_.part(layer.read_softmax, chunk)));
  a.copy_(b);
  project_rows(read, weights.cross_o, a, true);
}

void Forward::layer(std::size_t index, const Chunk& chunk) {
  auto& layer = tape_.layers[index];
  const auto& weights = tape_.weights.decoder[index];
  attend_to_window(layer, weights, chunk);
  attend_to_memory(layer, weights, chunk);
  const auto a = tape_.part(layer.a, chunk), gate_up = tape_.part(layer.gate_up, chunk);
  project_rows(norm(a, weights.block.mlp_norm, tape_.part(layer.a_scale, chunk), chunk),
               weights.block.gate_up, gate_up);
  const bool last = index + 1 == tape_.layers.size();
  auto next = last ? tape_.rows_of(tape_.out, chunk) : tape_.part(tape_.layers[index + 1].z, chunk);
  next.copy_(a);
  project_rows(fused::swiglu_rows(gate_up, factor_type()), weights.block.down, next, true);
}

// The last W − 1 positions or fewer. Sequences of different lengths end here.
void hand_on(const CoreTape& tape, DecoderState& state) {
  state.position += tape.rows.positions();
  if (!tape.setting.lengths.empty()) return;
  const auto all = tape.past + tape.rows.positions(), sequences = tape.rows.at(0);
  const auto kept = std::min(tape.setting.config.window - 1, all);
  const auto tail = [&](const Tensor& x) {
    return x.unflatten(0, {all, sequences})
        .narrow(0, all - kept, kept)
        .permute({1, 2, 0, 3})
        .contiguous();
  };
  for (std::size_t i = 0; i < tape.layers.size(); ++i)
    state.windows[i] = {tail(tape.layers[i].k.out), tail(tape.layers[i].v)};
}

}  // namespace

void run_forward(CoreTape& tape, DecoderState& state) {
  const NoGrad guard;
  Forward forward(tape);
  forward.make_layers(state);
  if (tape.weights.merge) {
    const auto count = tape.keeps ? tape.register_rows.back() : tape.rows.at(0);
    const auto width = tape.setting.config.d_model;
    tape.registers = at::empty({count, width}, tape.e.options());
    tape.register_scale = at::empty({count}, tape.e.options());
    tape.merged = at::empty({count, 2 * width}, tape.e.options());
  }
  for (std::size_t i = 0; i < tape.chunks.size(); ++i) {
    const auto& chunk = tape.chunks[i];
    forward.merge(i, state.register_BD);
    for (std::size_t l = 0; l < tape.layers.size(); ++l) forward.layer(l, chunk);
    const auto last = chunk.first + chunk.count - 1;
    if (chunk.completes)
      state.register_BD = tape.out.narrow(0, tape.rows.before(last), tape.rows.at(last));
  }
  if (state.register_BD.defined()) state.register_BD = state.register_BD.contiguous().clone();
  hand_on(tape, state);
}

}  // namespace rondo
