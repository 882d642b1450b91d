// The recurrent core composed of the blocks' operations.
#include "model/rlt_core.h"

#include <algorithm>
#include <stdexcept>

#include "model/rlt_fused.h"

namespace rondo {
namespace {

/// Adds keys and values of new positions to those of a window; returns all of them and leaves the
/// last `kept` in the window. There are fewer than that at the beginning.
WindowKv extend(WindowKv& window, const Tensor& k_BTGK, const Tensor& v_BTGK, std::int64_t kept) {
  const auto joined = [](const Tensor& old_BGSK, const Tensor& x_BTGK) {
    const auto x_BGTK = x_BTGK.transpose(1, 2);
    return old_BGSK.defined() ? at::cat({old_BGSK, x_BGTK}, 2) : x_BGTK;
  };
  WindowKv all{joined(window.k_BGSK, k_BTGK), joined(window.v_BGSK, v_BTGK)};
  const auto length = all.k_BGSK.size(2), count = std::min(kept, length);
  window = {all.k_BGSK.narrow(2, length - count, count),
            all.v_BGSK.narrow(2, length - count, count)};
  return all;
}

/// One decoder block on z of new positions; `before` of them lie in front.
Tensor decode(const PackedDecoderBlock& decoder, const Tensor& z_BTD, const BlockContext& context,
              const MemoryKv& memory, std::int64_t before, WindowKv& window) {
  const auto& config = context.config;
  const auto [q, k, v] = query_key_value(decoder.block, z_BTD, context);
  const auto seen = extend(window, k, v, config.window - 1);
  const auto b_BTD = z_BTD + project(cached_attention(q, seen.k_BGSK, seen.v_BGSK,
                                                      seen.k_BGSK.size(2) - z_BTD.size(1),
                                                      config.window, context.form),
                                     decoder.block.o);
  const auto asked =
      norm_project(b_BTD, decoder.cross_norm, config.norm_eps, decoder.cross_q, context.form)
          .unflatten(-1, {config.heads, config.head_dim});
  const auto known = memory.first(before + z_BTD.size(1));
  const auto read = cached_attention(place(asked, decoder.cross_q_norm, context), known.k_BHSK,
                                     known.v_BHSK, before, /*window=*/0, context.form);
  return feed_forward(decoder.block, b_BTD + project(read, decoder.cross_o), context);
}

/// Tokens of each chunk of a stretch that begins at `position`.
std::vector<std::int64_t> chunk_sizes(std::int64_t position, std::int64_t length,
                                      std::int64_t interval) {
  if (interval == 0) return {length};
  std::vector<std::int64_t> sizes;
  for (std::int64_t done = 0; done < length; done += sizes.back())
    sizes.push_back(std::min(interval - (position + done) % interval, length - done));
  return sizes;
}

/// u of a chunk: e with the register merged in. `gate_of_e` is e's part of the gate.
Tensor merged(const PackedMerge& merge, const CoreSetting& setting, const Tensor& e_BTD,
              const Tensor& gate_of_e_BTD, const Tensor& register_BD) {
  const auto r_B1D =
      rms_norm(register_BD.unsqueeze(1), merge.norm, setting.config.norm_eps, setting.form);
  const auto parts = project(r_B1D, merge.gate_and_state).chunk(2, -1);
  const auto gate = at::sigmoid(gate_of_e_BTD + parts[0]);
  return at::addcmul(e_BTD, gate, parts[1], setting.config.merge_scale);
}

}  // namespace

void CoreWeights::append_to(std::vector<Tensor>& list) const {
  if (merge) merge->append_to(list);
  for (const auto& block : decoder) block.append_to(list);
}

CoreWeights CoreWeights::rebuilt(const std::vector<Tensor>& list, std::size_t& next) const {
  auto weights = *this;
  if (merge) weights.merge = merge->rebuilt(list, next);
  for (auto& block : weights.decoder) block = block.rebuilt(list, next);
  return weights;
}

void DecoderState::cut(bool state, bool kv) {
  if (state && register_BD.defined()) register_BD = register_BD.detach();
  if (!kv) return;
  for (auto& [k, v] : windows) {
    if (k.defined()) k = k.detach();
    if (v.defined()) v = v.detach();
  }
}

Tensor run_core(const CoreWeights& weights, const CoreSetting& setting, const Tensor& e_BTD,
                const MemoryKv& memory, DecoderState& state) {
  const auto sequences =
      setting.lengths.empty() ? e_BTD.size(0) : static_cast<std::int64_t>(setting.lengths.size());
  const auto length = e_BTD.size(1), width = e_BTD.size(2);
  state.windows.resize(weights.decoder.size());
  Tensor gate_of_e_BTD;
  if (weights.merge) {
    if (!state.register_BD.defined())
      state.register_BD = weights.merge->initial.expand({sequences, width});
    gate_of_e_BTD = project(e_BTD, weights.merge->gate_of_e) + weights.merge->bias;
  }
  if (suits_fused_core(setting, e_BTD, state))
    return run_fused_core(weights, setting, e_BTD, gate_of_e_BTD, memory, state);
  if (!setting.lengths.empty())
    throw std::logic_error("sequences of different lengths are for the fused core");
  const auto interval = weights.merge ? setting.interval : 0;
  const auto sizes = chunk_sizes(state.position, length, interval);
  // Split once: the gradient of a part taken by itself would be as large as the whole.
  const auto e_parts = e_BTD.split_with_sizes(sizes, 1);
  const auto gate_parts =
      weights.merge ? gate_of_e_BTD.split_with_sizes(sizes, 1) : std::vector<Tensor>();
  std::vector<Tensor> chunks;
  for (std::size_t chunk = 0; chunk < sizes.size(); ++chunk) {
    const auto count = sizes[chunk];
    auto z_BTD = e_parts[chunk];
    if (weights.merge)
      z_BTD = merged(*weights.merge, setting, z_BTD, gate_parts[chunk], state.register_BD);
    const BlockContext context{.config = setting.config,
                               .rotary = part_of(setting.rotary, state.position, count),
                               .allowed_BTT = {},
                               .form = setting.form};
    for (std::size_t i = 0; i < weights.decoder.size(); ++i)
      z_BTD = decode(weights.decoder[i], z_BTD, context, memory, state.position, state.windows[i]);
    state.position += count;
    if (interval != 0 && state.position % interval == 0)
      state.register_BD = z_BTD.select(1, count - 1);
    chunks.push_back(z_BTD);
  }
  return chunks.size() == 1 ? chunks.front() : at::cat(chunks, 1);
}

}  // namespace rondo
