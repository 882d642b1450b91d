// The fused recurrent core on its way back: from the last chunk to the first only gradients of
// inputs are computed, one small product after the other. What the weights' gradients need is
// gathered over many tokens, so that they come from few large products.
#include <algorithm>

#include "model/rlt_tape.h"
#include "tensor/fused_rows.h"
#include "tensor/gemm.h"
#include "tensor/kernels.h"
#include "tensor/profile.h"

namespace rondo {
namespace {

// Rows that make the products of weights' gradients as quick as they get.
constexpr std::int64_t kRowsAtOnce = 4096;

// Chunks [begin, end) whose rows are gathered before weights' gradients are taken.
struct Group {
  std::size_t begin, end;
};

std::vector<Group> groups_of(const CoreTape& tape) {
  std::vector<Group> groups;
  for (std::size_t end = tape.chunks.size(); end > 0;) {
    std::int64_t rows = 0;
    auto begin = end;
    while (begin > 0 && rows < kRowsAtOnce) rows += tape.row_count(tape.chunks[--begin]);
    groups.push_back({begin, end});
    end = begin;
  }
  return groups;
}

// Gradients of the results of a layer's products, for the tokens of a group.
struct LayerSlopes {
  Tensor next, a, asked, b, qkv;
  Tensor gate_up;   // undefined where they take the place of what they belong to
  Tensor hidden;    // what entered the last product, again
  Tensor d_k, d_v;  // of all keys and values
  Tensor attn_norm, q_norm, k_norm, cross_norm, cross_q_norm, mlp_norm;  // sums by thread
};

class Backward {
 public:
  explicit Backward(const CoreTape& tape);
  CoreSlopes run(const Tensor& d_out_ND);

 private:
  // A chunk with its rows in the buffers of its group.
  struct Place {
    Chunk chunk;
    std::int64_t first, rows;
    [[nodiscard]] Tensor of(const Tensor& buffer) const { return buffer.narrow(0, first, rows); }
    // The first rows of scratch.
    [[nodiscard]] Tensor scratch(const Tensor& buffer) const { return buffer.narrow(0, 0, rows); }
  };

  Tensor buffer(at::IntArrayRef shape) const { return at::empty(shape, tape_.e.options()); }
  // Rows of a group's registers in front of those of a chunk.
  std::int64_t registers_before(std::size_t index, const Group& group) const {
    return tape_.register_rows[index] - tape_.register_rows[group.begin];
  }
  void make_layers(std::int64_t rows);
  Tensor input_slope(const Tensor& slope, const Weight& weight, const Tensor& out) const;
  void layer(std::size_t index, const Place& place, const Tensor& d_z);
  void through_mlp(std::size_t index, const Place& place);
  void through_memory(std::size_t index, const Place& place);
  void through_window(std::size_t index, const Place& place, const Tensor& d_z);
  Tensor merge(std::size_t index, const Group& group, const Tensor& d_u);
  void weights(const Group& group, bool add);
  void finish_gains();

  const CoreTape& tape_;
  const ModelConfig& config_;
  CoreSlopes slopes_;
  std::vector<LayerSlopes> layers_;
  Tensor d_keys_, d_values_;              // of the memory
  Tensor merged_, merge_norm_;            // registers of a group [., 2 D]; sums by thread
  Tensor hidden_, normed_, heads_, d_u_;  // scratch of a chunk
};

Backward::Backward(const CoreTape& tape) : tape_(tape), config_(tape.setting.config) {
  std::int64_t longest = 0, rows = 0, registers = 0;
  for (const auto& group : groups_of(tape)) {
    const auto& last = tape.chunks[group.end - 1];
    rows = std::max(rows, tape.first_row(last) + tape.row_count(last) -
                              tape.first_row(tape.chunks[group.begin]));
    registers = std::max(registers, registers_before(group.end, group));
  }
  for (const auto& chunk : tape.chunks) longest = std::max(longest, tape.row_count(chunk));
  const auto width = config_.d_model;
  slopes_.e = at::empty_like(tape.e);
  slopes_.weights = tape.weights;
  normed_ = buffer({longest, width});
  d_u_ = buffer({longest, width});
  heads_ = buffer({longest, config_.heads, config_.head_dim});
  if (tape.weights.merge) {
    slopes_.gate_of_e = at::empty_like(tape.e);
    merged_ = buffer({registers, 2 * width});
    merge_norm_ = fused::gain_sums(width);
    auto& merge = *slopes_.weights.merge;
    merge.gate_and_state = Weight(at::zeros_like(merge.gate_and_state.value));
    merge.initial = at::zeros_like(merge.initial);
  }
  if (!tape.layers.empty()) {
    // In fp32 the slope stands where the result comes.
    if (factors_are_bf16()) hidden_ = buffer({longest, tape.layers.front().gate_up.size(1) / 2});
    const auto& memory = tape.memory;
    d_keys_ = memory.k_gradient.defined() ? memory.k_gradient : at::zeros_like(memory.k_BHSK);
    d_values_ = memory.v_gradient.defined() ? memory.v_gradient : at::zeros_like(memory.v_BHSK);
    // Where others add to them too, they are not passed on.
    if (!memory.k_gradient.defined()) slopes_.memory = {d_keys_, d_values_, {}, {}};
    make_layers(rows);
  }
}

void Backward::make_layers(std::int64_t rows) {
  const auto width = config_.d_model, head = config_.head_dim;
  const auto sums = [&](const Tensor& gains) {
    return gains.defined() ? fused::gain_sums(gains.size(0)) : Tensor();
  };
  for (std::size_t i = 0; i < tape_.layers.size(); ++i) {
    const auto& tape = tape_.layers[i];
    const auto& weights = tape_.weights.decoder[i];
    layers_.push_back(
        {.next = buffer({rows, width}),
         .a = buffer({rows, width}),
         .asked = buffer({rows, width}),
         .b = buffer({rows, width}),
         .qkv = buffer({rows, (config_.heads + 2 * config_.kv_heads) * head}),
         .gate_up = graph_is_spent() ? Tensor() : buffer({rows, tape.gate_up.size(1)}),
         .hidden =
             at::empty({rows, tape.gate_up.size(1) / 2}, tape_.e.options().dtype(factor_type())),
         .d_k = at::zeros_like(tape.k.out),
         .d_v = at::zeros_like(tape.v),
         .attn_norm = sums(weights.block.attn_norm),
         .q_norm = sums(weights.block.q_norm),
         .k_norm = sums(weights.block.k_norm),
         .cross_norm = sums(weights.cross_norm),
         .cross_q_norm = sums(weights.cross_q_norm),
         .mlp_norm = sums(weights.block.mlp_norm)});
    auto& slopes = slopes_.weights.decoder[i];
    for (Weight* weight : {&slopes.block.qkv, &slopes.block.o, &slopes.block.gate_up,
                           &slopes.block.down, &slopes.cross_q, &slopes.cross_o})
      *weight = Weight(at::empty_like(weight->value));
  }
}

// d x of x W ᵀ.
Tensor Backward::input_slope(const Tensor& slope, const Weight& weight, const Tensor& out) const {
  auto rows = out;
  multiply(slope, factor_of(weight), rows);
  return out;
}

void Backward::through_mlp(std::size_t index, const Place& place) {
  const auto& tape = tape_.layers[index];
  const auto& weights = tape_.weights.decoder[index];
  auto& slopes = layers_[index];
  const auto& chunk = place.chunk;
  const auto gate_up = tape_.part(tape.gate_up, chunk), d_next = place.of(slopes.next);
  const auto d_gate_up = slopes.gate_up.defined() ? place.of(slopes.gate_up) : gate_up;
  const auto hidden = place.of(slopes.hidden);
  const auto d_hidden =
      input_slope(d_next, weights.block.down, hidden_.defined() ? place.scratch(hidden_) : hidden);
  fused::swiglu_rows_backward_into(gate_up, d_hidden, d_gate_up, hidden);
  const auto d_normed = input_slope(d_gate_up, weights.block.gate_up, place.scratch(normed_));
  fused::norm_rows_backward_into(tape_.part(tape.a, chunk), weights.block.mlp_norm,
                                 tape_.part(tape.a_scale, chunk), d_normed, d_next,
                                 place.of(slopes.a), slopes.mlp_norm);
}

void Backward::through_memory(std::size_t index, const Place& place) {
  const auto& tape = tape_.layers[index];
  const auto& weights = tape_.weights.decoder[index];
  auto& slopes = layers_[index];
  const auto& chunk = place.chunk;
  const auto kept = [&](const Tensor& x) { return x.defined() ? tape_.part(x, chunk) : x; };
  const auto d_a = place.of(slopes.a), d_asked = place.of(slopes.asked);
  const auto d_read = input_slope(d_a, weights.cross_o, place.scratch(normed_));
  const auto d_heads = place.scratch(heads_);
  attend_queries_backward(memory_queries(tape_, chunk), kept(tape.asked.out).data_ptr<float>(),
                          memory_keys(tape_), softmax_rows(kept(tape.read_softmax)),
                          d_read.data_ptr<float>(), d_heads.data_ptr<float>(),
                          d_keys_.data_ptr<float>(), d_values_.data_ptr<float>());
  Placing(tape_, weights.cross_q_norm)
      .backward(d_heads, {kept(tape.asked.in), kept(tape.asked.scale), {}}, chunk,
                d_asked.data_ptr<float>(), d_asked.size(1), slopes.cross_q_norm);
  const auto d_normed = input_slope(d_asked, weights.cross_q, place.scratch(normed_));
  fused::norm_rows_backward_into(tape_.part(tape.b, chunk), weights.cross_norm,
                                 tape_.part(tape.b_scale, chunk), d_normed, d_a, place.of(slopes.b),
                                 slopes.cross_norm);
}

void Backward::through_window(std::size_t index, const Place& place, const Tensor& d_z) {
  const auto& tape = tape_.layers[index];
  const auto& weights = tape_.weights.decoder[index];
  auto& slopes = layers_[index];
  const auto& chunk = place.chunk;
  const auto kept = [&](const Tensor& x) { return x.defined() ? tape_.part(x, chunk) : x; };
  const auto d_b = place.of(slopes.b), d_qkv = place.of(slopes.qkv);
  const auto d_heads = place.scratch(heads_);
  // [n, D] and [n, H K] have as many numbers, as heads · head_dim = d_model.
  const auto d_seen = input_slope(d_b, weights.block.o, place.scratch(normed_));
  attend_queries_backward(window_queries(tape_, chunk), kept(tape.q.out).data_ptr<float>(),
                          window_keys(tape_, tape), softmax_rows(kept(tape.seen_softmax)),
                          d_seen.data_ptr<float>(), d_heads.data_ptr<float>(),
                          slopes.d_k.data_ptr<float>(), slopes.d_v.data_ptr<float>());
  const auto stride = d_qkv.size(1), queries = config_.heads * config_.head_dim,
             keys = config_.kv_heads * config_.head_dim,
             at = tape_.past * tape_.rows.at(0) + tape_.first_row(chunk);
  float* raw = d_qkv.data_ptr<float>();
  Placing(tape_, weights.block.q_norm)
      .backward(d_heads, {kept(tape.q.in), kept(tape.q.scale), {}}, chunk, raw, stride,
                slopes.q_norm);
  // All that read these keys lie behind and are done.
  Placing(tape_, weights.block.k_norm)
      .backward(slopes.d_k.narrow(0, at, place.rows), {kept(tape.k.in), kept(tape.k.scale), {}},
                chunk, raw + queries, stride, slopes.k_norm);
  d_qkv.narrow(1, queries + keys, keys).copy_(slopes.d_v.narrow(0, at, place.rows).flatten(1));
  const auto d_normed = input_slope(d_qkv, weights.block.qkv, place.scratch(normed_));
  fused::norm_rows_backward_into(tape_.part(tape.z, chunk), weights.block.attn_norm,
                                 tape_.part(tape.z_scale, chunk), d_normed, d_b, d_z,
                                 slopes.attn_norm);
}

void Backward::layer(std::size_t index, const Place& place, const Tensor& d_z) {
  through_mlp(index, place);
  through_memory(index, place);
  through_window(index, place, d_z);
}

// From d u of a chunk to d e, the gate's share of e, and the register; returns the last.
Tensor Backward::merge(std::size_t index, const Group& group, const Tensor& d_u) {
  const auto& chunk = tape_.chunks[index];
  tape_.rows_of(slopes_.e, chunk).copy_(d_u);
  if (!tape_.weights.merge) return {};
  const auto sequences = tape_.sequences(chunk), width = config_.d_model;
  const auto d_merged = merged_.narrow(0, registers_before(index, group), sequences);
  d_merged.zero_();
  {
    const ProfileScope scope(Part::kElementwise);
    const auto first = tape_.first_row(chunk);
    const float* gate_e = tape_.gate_of_e.data_ptr<float>() + first * width;
    const float* merged = tape_.register_part(tape_.merged, index).data_ptr<float>();
    const float* slope = d_u.data_ptr<float>();
    float* d_gate_e = slopes_.gate_of_e.data_ptr<float>() + first * width;
    float* d_from_r = d_merged.data_ptr<float>();
    at::parallel_for(0, sequences, fused::rows_per_thread(width), [&](auto begin, auto end) {
      for (std::int64_t b = begin; b < end; ++b) {
        const float* gate_r = merged + b * 2 * width;
        float* d_gate_r = d_from_r + b * 2 * width;
        for (auto t = chunk.first; t < chunk.first + chunk.count && b < tape_.rows.at(t); ++t) {
          const auto row = (tape_.rows.before(t) - first + b) * width;
          kernels().merge_backward(gate_e + row, gate_r, gate_r + width, slope + row,
                                   static_cast<float>(config_.merge_scale), d_gate_e + row,
                                   d_gate_r, d_gate_r + width, width);
        }
      }
    });
  }
  const auto& weights = *tape_.weights.merge;
  const auto d_r = input_slope(d_merged, weights.gate_and_state, normed_.narrow(0, 0, sequences));
  const auto d_register = at::empty({sequences, width}, tape_.e.options());
  fused::norm_rows_backward_into(tape_.register_part(tape_.registers, index), weights.norm,
                                 tape_.register_part(tape_.register_scale, index), d_r, Tensor(),
                                 d_register, merge_norm_);
  return d_register;
}

// The products of a group: slopes ᵀ times what entered the product.
void Backward::weights(const Group& group, bool add) {
  const auto first = tape_.first_row(tape_.chunks[group.begin]);
  const auto& last = tape_.chunks[group.end - 1];
  const auto count = tape_.first_row(last) + tape_.row_count(last) - first;
  const auto kept = [&](const Tensor& x) { return x.narrow(0, first, count); };
  const auto normed = [&](const Tensor& x, const Tensor& gains) {
    return fused::norm_rows(kept(x), gains, config_.norm_eps, factor_type()).out;
  };
  const auto learn = [&](Tensor& d_weight, const Tensor& slope, const Tensor& left) {
    multiply(slope.narrow(0, 0, left.size(0)).t(), left, d_weight, add);
  };
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto& tape = tape_.layers[i];
    const auto& weights = tape_.weights.decoder[i];
    const auto& slopes = layers_[i];
    auto& d = slopes_.weights.decoder[i];
    learn(d.block.down.value, slopes.next, slopes.hidden.narrow(0, 0, count));
    const auto d_gate_up = slopes.gate_up.defined() ? slopes.gate_up : kept(tape.gate_up);
    learn(d.block.gate_up.value, d_gate_up, normed(tape.a, weights.block.mlp_norm));
    learn(d.cross_o.value, slopes.a, kept(tape.read));
    learn(d.cross_q.value, slopes.asked, normed(tape.b, weights.cross_norm));
    learn(d.block.o.value, slopes.b, kept(tape.seen));
    learn(d.block.qkv.value, slopes.qkv, normed(tape.z, weights.block.attn_norm));
  }
  if (!tape_.weights.merge) return;
  const auto rows = registers_before(group.end, group);
  const auto registers = tape_.registers.narrow(0, tape_.register_rows[group.begin], rows);
  const auto r =
      fused::norm_rows(registers, tape_.weights.merge->norm, config_.norm_eps, factor_type()).out;
  multiply(merged_.narrow(0, 0, rows).t(), r, slopes_.weights.merge->gate_and_state.value, true);
}

void Backward::finish_gains() {
  const auto sum = [](const Tensor& by_thread) {
    return by_thread.defined() ? by_thread.sum(0) : Tensor();
  };
  if (slopes_.weights.merge) slopes_.weights.merge->norm = sum(merge_norm_);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    auto& d = slopes_.weights.decoder[i];
    const auto& slopes = layers_[i];
    d.block.attn_norm = sum(slopes.attn_norm);
    d.block.q_norm = sum(slopes.q_norm);
    d.block.k_norm = sum(slopes.k_norm);
    d.block.mlp_norm = sum(slopes.mlp_norm);
    d.cross_norm = sum(slopes.cross_norm);
    d.cross_q_norm = sum(slopes.cross_q_norm);
  }
}

CoreSlopes Backward::run(const Tensor& d_out_ND) {
  Tensor d_register;
  bool add = false;
  for (const auto& group : groups_of(tape_)) {
    const auto begin = tape_.first_row(tape_.chunks[group.begin]);
    for (auto index = group.end; index-- > group.begin;) {
      const auto& chunk = tape_.chunks[index];
      const Place place{chunk, tape_.first_row(chunk) - begin, tape_.row_count(chunk)};
      const auto d_u = place.scratch(d_u_);
      const auto d_state = layers_.empty() ? d_u : place.of(layers_.back().next);
      d_state.copy_(tape_.rows_of(d_out_ND, chunk));
      const auto last = tape_.rows.before(chunk.first + chunk.count - 1) - tape_.first_row(chunk);
      if (chunk.completes && d_register.defined())
        d_state.narrow(0, last, d_register.size(0)).add_(d_register);
      for (auto l = layers_.size(); l-- > 0;)
        layer(l, place, l == 0 ? d_u : place.of(layers_[l - 1].next));
      d_register = merge(index, group, d_u);
    }
    weights(group, add);
    add = true;
  }
  if (tape_.fresh && d_register.defined()) slopes_.weights.merge->initial = d_register.sum(0);
  finish_gains();
  return std::move(slopes_);
}

}  // namespace

CoreSlopes run_backward(const CoreTape& tape, const Tensor& d_out_ND) {
  const NoGrad guard;
  return Backward(tape).run(d_out_ND);
}

}  // namespace rondo
