// One head: forward, and back with the probabilities computed again (Dao et al., 2022).
#include "tensor/head_attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace rondo::fused {
namespace {

// Queries of a block. Their scores against up to a thousand keys stay in the second-level cache.
constexpr std::int64_t kBlock = 64;

// Seven small products a head take most of their time to get going.
bool is_short(const HeadInput& in) { return in.length <= kBlock; }

float factor_of(const HeadInput& in) { return 1.0f / std::sqrt(static_cast<float>(in.q.width)); }

ShortHead short_head(const HeadInput& in, std::int64_t out_stride) {
  return {in.q.data, in.k.data,  in.v.data, in.q.down,  in.k.down,
          in.v.down, out_stride, in.length, in.q.width, factor_of(in)};
}

}  // namespace

float* head_scratch(std::size_t n, std::int64_t numbers) {
  thread_local std::array<std::vector<float>, 8> memory;
  auto& one = memory.at(n);
  if (one.size() < static_cast<std::size_t>(numbers)) one.resize(static_cast<std::size_t>(numbers));
  return one.data();
}

void attend_head(const HeadInput& in, const Head& out, SoftmaxRow* rows) {
  if (is_short(in)) {
    const auto head = short_head(in, out.down);
    return kernels().attend_short(head, out.data, rows, head_scratch(0, head.scratch()));
  }
  for (std::int64_t begin = 0; begin < in.length; begin += kBlock) {
    const auto count = std::min(kBlock, in.length - begin), seen = begin + count;
    float* scores = head_scratch(0, kBlock * in.length);
    multiply_alone(in.q.rows(begin, count), in.k.rows(0, seen).transposed(), scores, seen);
    for (std::int64_t i = 0; i < count; ++i)
      rows[begin + i] = kernels().softmax(scores + i * seen, factor_of(in), begin + i + 1, seen);
    multiply_alone({scores, count, seen, seen, 1}, in.v.rows(0, seen), out.row(begin), out.down);
  }
}

void attend_head_backward(const HeadInput& in, const SoftmaxRow* rows, const Head& d_out,
                          const HeadSlopes& slopes) {
  const auto& [d_q, d_k, d_v, adds] = slopes;
  if (is_short(in)) {
    const auto head = short_head(in, d_out.down);
    return kernels().attend_short_backward(head, rows, d_out.data, d_q.data, d_k.data, d_v.data,
                                           d_v.down, adds, head_scratch(0, head.scratch()));
  }
  // From the last block to the first: the last one sees all keys and so begins every row of d_k,
  // d_v.
  const auto blocks = (in.length + kBlock - 1) / kBlock;
  for (std::int64_t block = blocks; block-- > 0;) {
    const auto begin = block * kBlock, count = std::min(kBlock, in.length - begin),
               seen = begin + count;
    const bool add = adds || block + 1 < blocks;
    float* p = head_scratch(0, kBlock * in.length);
    float* d_p = head_scratch(1, kBlock * in.length);
    multiply_alone(in.q.rows(begin, count), in.k.rows(0, seen).transposed(), p, seen);
    multiply_alone(d_out.rows(begin, count), in.v.rows(0, seen).transposed(), d_p, seen);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto row = begin + i;
      kernels().probabilities(p + i * seen, factor_of(in), rows[row], row + 1, seen);
      kernels().softmax_backward(p + i * seen, d_p + i * seen, factor_of(in), row + 1, seen);
    }
    const MatrixView probabilities{p, count, seen, seen, 1}, d_scores{d_p, count, seen, seen, 1};
    multiply_alone(probabilities.transposed(), d_out.rows(begin, count), d_v.data, d_v.down, add);
    multiply_alone(d_scores.transposed(), in.q.rows(begin, count), d_k.data, d_k.down, add);
    multiply_alone(d_scores, in.k.rows(0, seen), d_q.row(begin), d_q.down);
  }
}

}  // namespace rondo::fused
