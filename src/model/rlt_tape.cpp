// Placing heads, and who attends to what.
#include "model/rlt_tape.h"

#include <algorithm>

#include "tensor/fused_rows.h"
#include "tensor/kernels.h"
#include "tensor/profile.h"

namespace rondo {
namespace {

bool normed_first(const ModelConfig& config) {
  return config.qk_norm_order == QkNormOrder::kBeforeRope;
}

}  // namespace

std::vector<Chunk> chunks_of(std::int64_t position, std::int64_t length, std::int64_t interval) {
  std::vector<Chunk> chunks;
  for (std::int64_t first = 0; first < length;) {
    const auto at = position + first;
    const auto rest = interval == 0 ? length : interval - at % interval;
    const auto count = std::min(rest, length - first);
    chunks.push_back({first, count, interval != 0 && (at + count) % interval == 0});
    first += count;
  }
  return chunks;
}

Placing::Angles Placing::angles_of(std::int64_t row) const {
  const auto place = tape_.position + tape_.places[static_cast<std::size_t>(row)];
  const auto at = place * tape_.setting.config.head_dim / 2;
  return {tape_.setting.rotary.cos.data_ptr<float>() + at,
          tape_.setting.rotary.sin.data_ptr<float>() + at};
}

void Placing::forward(const float* raw, std::int64_t stride, const Chunk& chunk,
                      const Placed& to) const {
  const ProfileScope scope(Part::kElementwise);
  const auto& config = tape_.setting.config;
  const auto heads = to.out.size(1), head = config.head_dim, width = heads * head,
             first = tape_.first_row(chunk);
  const auto eps = static_cast<float>(config.norm_eps);
  const float* gains = gains_.defined() ? gains_.data_ptr<float>() : nullptr;
  const auto rotate = [&](const float* from, float* into, std::int64_t row) {
    const auto [cos, sin] = angles_of(first + row);
    kernels().rotate(from, into, cos, sin, heads, head / 2, false);
  };
  at::parallel_for(0, tape_.row_count(chunk), fused::rows_per_thread(width),
                   [&](auto begin, auto end) {
                     for (std::int64_t row = begin; row < end; ++row) {
                       const float* from = raw + row * stride;
                       float* out = to.out.data_ptr<float>() + row * width;
                       if (config.qk_norm == QkNorm::kNone) {
                         rotate(from, out, row);
                         continue;
                       }
                       float* in = to.in.data_ptr<float>() + row * width;
                       if (normed_first(config))
                         std::copy_n(from, width, in);
                       else
                         rotate(from, in, row);
                       kernels().rms_norm(in, gains, eps, out,
                                          to.scale.data_ptr<float>() + row * heads, heads, head);
                       if (normed_first(config)) rotate(out, out, row);
                     }
                   });
}

void Placing::backward(const Tensor& d_out, const Placed& kept, const Chunk& chunk, float* d_raw,
                       std::int64_t stride, const Tensor& sums) const {
  const ProfileScope scope(Part::kElementwise);
  const auto& config = tape_.setting.config;
  const auto heads = d_out.size(1), head = config.head_dim, width = heads * head,
             first_row = tape_.first_row(chunk);
  const float* gains = gains_.defined() ? gains_.data_ptr<float>() : nullptr;
  const auto rotate_back = [&](const float* from, float* into, std::int64_t row) {
    const auto [cos, sin] = angles_of(first_row + row);
    kernels().rotate(from, into, cos, sin, heads, head / 2, true);
  };
  fused::share_rows(d_out.size(0), [&](std::int64_t first, std::int64_t count, std::int64_t part) {
    for (std::int64_t row = first; row < first + count; ++row) {
      float* slope = d_out.data_ptr<float>() + row * width;
      float* to = d_raw + row * stride;
      if (config.qk_norm == QkNorm::kNone) {
        rotate_back(slope, to, row);
        continue;
      }
      if (normed_first(config)) rotate_back(slope, slope, row);
      kernels().rms_norm_backward(kept.in.data_ptr<float>() + row * width, gains,
                                  kept.scale.data_ptr<float>() + row * heads, slope, nullptr,
                                  normed_first(config) ? to : slope,
                                  sums.defined() ? sums.data_ptr<float>() + part * head : nullptr,
                                  heads, head);
      if (!normed_first(config)) rotate_back(slope, to, row);
    }
  });
}

QueryBlock window_queries(const CoreTape& tape, const Chunk& chunk) {
  const auto& config = tape.setting.config;
  return {.rows = &tape.rows,
          .token = chunk.first,
          .tokens = chunk.count,
          .heads = config.heads,
          .groups = config.kv_heads,
          .width = config.head_dim,
          .first = tape.past + chunk.first,
          .window = config.window};
}

KeyValues window_keys(const CoreTape& tape, const LayerTape& layer) {
  return {layer.k.out.data_ptr<float>(), layer.v.data_ptr<float>(), &tape.window_places};
}

QueryBlock memory_queries(const CoreTape& tape, const Chunk& chunk) {
  const auto& config = tape.setting.config;
  return {.rows = &tape.rows,
          .token = chunk.first,
          .tokens = chunk.count,
          .heads = config.heads,
          .groups = config.heads,
          .width = config.head_dim,
          .first = tape.position + chunk.first,
          .window = 0};
}

KeyValues memory_keys(const CoreTape& tape) {
  return {tape.memory.k_BHSK.data_ptr<float>(), tape.memory.v_BHSK.data_ptr<float>(),
          &tape.memory_places};
}

SoftmaxRow* softmax_rows(const Tensor& buffer) {
  static_assert(sizeof(SoftmaxRow) == 2 * sizeof(float));
  return reinterpret_cast<SoftmaxRow*>(buffer.data_ptr<float>());
}

}  // namespace rondo
