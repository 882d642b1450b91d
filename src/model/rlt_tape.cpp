// Placing heads, and who attends to what.
#include "model/rlt_tape.h"

#include <algorithm>

#include "tensor/fused_rows.h"
#include "tensor/kernels.h"
#include "tensor/profile.h"

namespace rondo {
namespace {

constexpr std::int64_t kGrain = 16384;

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

void Placing::turn(const float* from, std::int64_t from_stride, float* to, std::int64_t to_stride,
                   const Tensor& like, const Chunk& chunk, bool back) const {
  const ProfileScope scope(Part::kElementwise);
  const auto heads = like.size(1), half = like.size(2) / 2, first = tape_.first_row(chunk);
  const float* cos = tape_.setting.rotary.cos.data_ptr<float>();
  const float* sin = tape_.setting.rotary.sin.data_ptr<float>();
  const auto grain = std::max<std::int64_t>(1, kGrain / (2 * heads * half));
  at::parallel_for(0, tape_.row_count(chunk), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const auto place = tape_.places[static_cast<std::size_t>(first + row)];
      const auto angle = (tape_.position + place) * half;
      kernels().rotate(from + row * from_stride, to + row * to_stride, cos + angle, sin + angle,
                       heads, half, back);
    }
  });
}

void Placing::forward(const float* raw, std::int64_t stride, const Chunk& chunk,
                      const Placed& to) const {
  const auto& config = tape_.setting.config;
  const auto width = to.out.size(1) * to.out.size(2);
  float* out = to.out.data_ptr<float>();
  if (config.qk_norm == QkNorm::kNone) return turn(raw, stride, out, width, to.out, chunk, false);
  float* in = to.in.data_ptr<float>();
  if (normed_first(config)) {
    for (std::int64_t row = 0; row < to.out.size(0); ++row)
      std::copy_n(raw + row * stride, width, in + row * width);
  } else {
    turn(raw, stride, in, width, to.out, chunk, false);
  }
  fused::norm_rows_into(to.in, gains_, config.norm_eps, to.out, to.scale);
  if (normed_first(config)) turn(out, width, out, width, to.out, chunk, false);
}

void Placing::backward(const Tensor& d_out, const Placed& kept, const Chunk& chunk, float* d_raw,
                       std::int64_t stride, const Tensor& sums) const {
  const auto& config = tape_.setting.config;
  const auto width = d_out.size(1) * d_out.size(2);
  float* slope = d_out.data_ptr<float>();
  if (config.qk_norm == QkNorm::kNone) return turn(slope, width, d_raw, stride, d_out, chunk, true);
  if (normed_first(config)) turn(slope, width, slope, width, d_out, chunk, true);
  fused::norm_rows_backward_into(kept.in, gains_, kept.scale, d_out, Tensor(), d_out, sums);
  if (!normed_first(config)) return turn(slope, width, d_raw, stride, d_out, chunk, true);
  for (std::int64_t row = 0; row < d_out.size(0); ++row)
    std::copy_n(slope + row * width, width, d_raw + row * stride);
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
