// Query by query, sequences and groups of heads in parallel.
#include "tensor/query_attention.h"

#include <algorithm>
#include <cmath>

#include "tensor/kernels.h"
#include "tensor/profile.h"

namespace rondo {
namespace {

std::int64_t place(const KeyLayout& layout, std::int64_t position, std::int64_t sequence,
                   std::int64_t head) {
  return position * layout.position + sequence * layout.sequence + head * layout.head;
}

// The keys of one query.
struct Seen {
  std::int64_t begin, count;
};

Seen seen_by(const QueryBlock& block, std::int64_t token) {
  const auto own = block.first + token;
  const auto begin = block.window == 0 ? 0 : std::max<std::int64_t>(0, own + 1 - block.window);
  return {begin, own + 1 - begin};
}

// Calls work(token, sequence, head, group), all heads of a group on one thread, since they add to
// the same gradients. Each thread gets two rows of scratch for as many keys as a query can see.
template <typename Work>
void for_queries(const QueryBlock& block, const Work& work) {
  const auto shared = block.heads / block.groups, most = block.first + block.tokens;
  const auto each = std::max<std::int64_t>(1, 4096 / (block.tokens * shared * block.width));
  at::parallel_for(0, block.sequences * block.groups, each,
                   [&](std::int64_t begin, std::int64_t end) {
                     thread_local std::vector<float> scratch;
                     if (scratch.size() < static_cast<std::size_t>(2 * most))
                       scratch.resize(static_cast<std::size_t>(2 * most));
                     for (std::int64_t i = begin; i < end; ++i)
                       for (std::int64_t token = 0; token < block.tokens; ++token)
                         for (std::int64_t h = 0; h < shared; ++h)
                           work(token, i / block.groups, i % block.groups * shared + h,
                                i % block.groups, scratch.data(), scratch.data() + most);
                   });
}

float factor_of(const QueryBlock& block) {
  return 1.0f / std::sqrt(static_cast<float>(block.width));
}

std::int64_t query_place(const QueryBlock& block, std::int64_t token, std::int64_t sequence,
                         std::int64_t head) {
  return ((token * block.sequences + sequence) * block.heads + head) * block.width;
}

}  // namespace

void attend_queries(const QueryBlock& block, const float* q, const KeyValues& keys, float* out) {
  const ProfileScope scope(Part::kAttention);
  for_queries(block,
              [&, factor = factor_of(block)](auto token, auto b, auto h, auto g, float* p, float*) {
                const auto [begin, count] = seen_by(block, token);
                const auto at = query_place(block, token, b, h);
                kernels().attend(q + at, keys.k + place(keys.k_layout, begin, b, g),
                                 keys.v + place(keys.v_layout, begin, b, g), keys.k_layout.position,
                                 keys.v_layout.position, count, block.width, factor, p, out + at);
              });
}

void attend_queries_backward(const QueryBlock& block, const float* q, const KeyValues& keys,
                             const float* d_out, float* d_q, float* d_k, float* d_v) {
  const ProfileScope scope(Part::kAttention);
  for_queries(block, [&, factor = factor_of(block)](auto token, auto b, auto h, auto g, float* p,
                                                    float* d_p) {
    const auto [begin, count] = seen_by(block, token);
    const auto at = query_place(block, token, b, h);
    const auto k_at = place(keys.k_layout, begin, b, g), v_at = place(keys.v_layout, begin, b, g);
    // d_q holds what attend() computes until the gradient takes its place.
    kernels().attend(q + at, keys.k + k_at, keys.v + v_at, keys.k_layout.position,
                     keys.v_layout.position, count, block.width, factor, p, d_q + at);
    kernels().attend_backward(q + at, keys.k + k_at, keys.v + v_at, keys.k_layout.position,
                              keys.v_layout.position, count, block.width, factor, p, d_out + at,
                              d_p, d_q + at, d_k + k_at, d_v + v_at);
  });
}

}  // namespace rondo
