// Causal attention: on blocks of queries by products of matrices, or head by head where sequences
// are too short for them.
#include <algorithm>
#include <cmath>

#include "tensor/fused.h"
#include "tensor/gemm.h"
#include "tensor/kernels.h"
#include "tensor/profile.h"

namespace rondo::fused {
namespace {

using Context = torch::autograd::AutogradContext;
using Variables = torch::autograd::variable_list;

// Queries of a block. Their scores against up to a thousand keys stay in the second-level cache.
constexpr std::int64_t kBlock = 64;

// Heads of one sequence.
struct Shape {
  std::int64_t first, length;  // rows of the sequence among all
  std::int64_t heads, groups, width;

  [[nodiscard]] float factor() const { return 1.0f / std::sqrt(static_cast<float>(width)); }
};

// The sequences of [B, T, H, K], or those whose lengths are given of [1, N, H, K].
std::vector<Shape> shapes_of(const Tensor& q, const Tensor& k, at::IntArrayRef lengths) {
  const auto count = lengths.empty() ? q.size(0) : static_cast<std::int64_t>(lengths.size());
  std::vector<Shape> shapes;
  std::int64_t first = 0;
  for (std::int64_t b = 0; b < count; ++b) {
    const auto length = lengths.empty() ? q.size(1) : lengths[static_cast<std::size_t>(b)];
    shapes.push_back({first, length, q.size(2), k.size(2), q.size(3)});
    first += length;
  }
  return shapes;
}

// One head of one sequence: rows are positions, a token's heads lie side by side.
struct Head {
  float* data;
  std::int64_t down, width;

  [[nodiscard]] float* row(std::int64_t position) const { return data + position * down; }
  [[nodiscard]] MatrixView rows(std::int64_t begin, std::int64_t count) const {
    return {row(begin), count, width, down, 1};
  }
};

Head head_of(const Tensor& x, const Shape& shape, std::int64_t h) {
  const auto heads = x.size(2), width = x.size(3);
  return {x.data_ptr<float>() + (shape.first * heads + h) * width, heads * width, width};
}

// What the softmax of one head keeps of its rows.
SoftmaxRow* rows_of(const Tensor& rows, const Shape& shape, std::int64_t h) {
  static_assert(sizeof(SoftmaxRow) == 2 * sizeof(float));
  auto* all = reinterpret_cast<SoftmaxRow*>(rows.data_ptr<float>());
  return all + shape.first * shape.heads + h * shape.length;
}

// Calls work(sequence, head, group) for every head, all heads that share keys and values on one
// thread; long sequences, which may come first, and short ones in turn.
template <typename Work>
void for_heads(const std::vector<Shape>& shapes, const Work& work) {
  const auto groups = shapes.front().groups, shared = shapes.front().heads / groups,
             count = static_cast<std::int64_t>(shapes.size());
  at::parallel_for(0, count * groups, 1, [&](std::int64_t begin, std::int64_t end) {
    const OneThread guard;
    for (std::int64_t i = begin; i < end; ++i) {
      const auto n = i / groups, b = n % 2 == 0 ? n / 2 : count - 1 - n / 2;
      for (std::int64_t h = 0; h < shared; ++h)
        work(shapes[static_cast<std::size_t>(b)], i % groups * shared + h, i % groups);
    }
  });
}

// Scratch of a thread that outlives a call: fresh pages cost more than what is computed in them.
float* scratch(std::size_t place, std::int64_t numbers) {
  thread_local std::vector<float> memory[2];
  auto& one = memory[place];
  if (one.size() < static_cast<std::size_t>(numbers)) one.resize(static_cast<std::size_t>(numbers));
  return one.data();
}

// Seven small products a head take most of their time to get going.
bool is_short(const Shape& shape) { return shape.length <= kBlock; }

ShortHead short_head(const Shape& shape, const Head& q, const Head& k, const Head& v) {
  return {q.data, k.data, v.data, q.down, k.down, shape.length, shape.width, shape.factor()};
}

void forward_head(const Shape& shape, const Head& q, const Head& k, const Head& v, const Head& out,
                  SoftmaxRow* rows) {
  for (std::int64_t begin = 0; begin < shape.length; begin += kBlock) {
    const auto count = std::min(kBlock, shape.length - begin), seen = begin + count;
    float* scores = scratch(0, kBlock * shape.length);
    multiply_alone(q.rows(begin, count), k.rows(0, seen).transposed(), scores, seen);
    for (std::int64_t i = 0; i < count; ++i)
      rows[begin + i] = kernels().softmax(scores + i * seen, shape.factor(), begin + i + 1, seen);
    multiply_alone({scores, count, seen, seen, 1}, v.rows(0, seen), out.row(begin), out.down);
  }
}

struct BackwardHead {
  Head q, k, v, d_out, d_q, d_k, d_v;
  const SoftmaxRow* rows;
  bool adds;  // another head has begun d_k and d_v
};

void backward_head(const Shape& shape, const BackwardHead& head) {
  const auto& [q, k, v, d_out, d_q, d_k, d_v, rows, adds] = head;
  // From the last block to the first: the last one sees all keys and so begins every row of d_k,
  // d_v.
  const auto blocks = (shape.length + kBlock - 1) / kBlock;
  for (std::int64_t block = blocks; block-- > 0;) {
    const auto begin = block * kBlock, count = std::min(kBlock, shape.length - begin),
               seen = begin + count;
    const bool add = adds || block + 1 < blocks;
    float* p = scratch(0, kBlock * shape.length);
    float* d_p = scratch(1, kBlock * shape.length);
    multiply_alone(q.rows(begin, count), k.rows(0, seen).transposed(), p, seen);
    multiply_alone(d_out.rows(begin, count), v.rows(0, seen).transposed(), d_p, seen);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto row = begin + i;
      kernels().probabilities(p + i * seen, shape.factor(), rows[row], row + 1, seen);
      kernels().softmax_backward(p + i * seen, d_p + i * seen, shape.factor(), row + 1, seen);
    }
    const MatrixView probabilities{p, count, seen, seen, 1}, d_scores{d_p, count, seen, seen, 1};
    multiply_alone(probabilities.transposed(), d_out.rows(begin, count), d_v.data, d_v.down, add);
    multiply_alone(d_scores.transposed(), q.rows(begin, count), d_k.data, d_k.down, add);
    multiply_alone(d_scores, k.rows(0, seen), d_q.row(begin), d_q.down);
  }
}

class Attention : public torch::autograd::Function<Attention> {
 public:
  static Tensor forward(Context* context, const Tensor& q_in, const Tensor& k_in,
                        const Tensor& v_in, const std::vector<std::int64_t>& lengths) {
    const ProfileScope scope(Part::kAttention);
    const auto q = q_in.contiguous(), k = k_in.contiguous(), v = v_in.contiguous();
    auto out = at::empty(q.sizes(), q.options());
    auto rows = at::empty({q.size(0) * q.size(1) * q.size(2), 2}, q.options());
    const auto shapes = shapes_of(q, k, lengths);
    for_heads(shapes, [&](const Shape& shape, std::int64_t h, std::int64_t g) {
      const auto query = head_of(q, shape, h), key = head_of(k, shape, g),
                 value = head_of(v, shape, g), to = head_of(out, shape, h);
      auto* kept = rows_of(rows, shape, h);
      if (is_short(shape)) {
        const auto one = short_head(shape, query, key, value);
        return kernels().attend_short(one, to.data, kept, scratch(0, one.scratch()));
      }
      forward_head(shape, query, key, value, to, kept);
    });
    context->save_for_backward({q, k, v, rows});
    context->saved_data["lengths"] = lengths;
    return out;
  }

  static Variables backward(Context* context, Variables slopes) {
    const ProfileScope scope(Part::kAttention);
    const auto saved = context->get_saved_variables();
    const auto &q = saved[0], &k = saved[1], &v = saved[2], &rows = saved[3];
    const auto slope = slopes[0].contiguous();
    Variables result = {at::empty(q.sizes(), q.options()), at::empty(k.sizes(), q.options()),
                        at::empty(v.sizes(), q.options()), Tensor()};
    const auto shared = q.size(2) / k.size(2);
    const auto shapes = shapes_of(q, k, context->saved_data["lengths"].toIntVector());
    for_heads(shapes, [&](const Shape& shape, std::int64_t h, std::int64_t g) {
      const BackwardHead head{.q = head_of(q, shape, h),
                              .k = head_of(k, shape, g),
                              .v = head_of(v, shape, g),
                              .d_out = head_of(slope, shape, h),
                              .d_q = head_of(result[0], shape, h),
                              .d_k = head_of(result[1], shape, g),
                              .d_v = head_of(result[2], shape, g),
                              .rows = rows_of(rows, shape, h),
                              .adds = h % shared != 0};
      if (is_short(shape)) {
        const auto one = short_head(shape, head.q, head.k, head.v);
        return kernels().attend_short_backward(one, head.rows, head.d_out.data, head.d_q.data,
                                               head.d_k.data, head.d_v.data, head.adds,
                                               scratch(0, one.scratch()));
      }
      backward_head(shape, head);
    });
    return result;
  }
};

}  // namespace

Tensor causal_attention(const Tensor& q_BTHK, const Tensor& k_BTGK, const Tensor& v_BTGK,
                        const std::vector<std::int64_t>& lengths) {
  return Attention::apply(q_BTHK, k_BTGK, v_BTGK, lengths).flatten(2);
}

}  // namespace rondo::fused
