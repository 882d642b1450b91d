// Attention from the joint product of queries, keys and values: heads are normed and rotated where
// they are read, and again on the way back, so that nothing but the product itself is kept.
#include <algorithm>

#include "tensor/fused.h"
#include "tensor/fused_rows.h"
#include "tensor/head_attention.h"
#include "tensor/profile.h"

namespace rondo::fused {
namespace {

using Context = torch::autograd::AutogradContext;
using Variables = torch::autograd::variable_list;

// Scratch of a thread beyond that of one head's attention.
enum Scratch : std::size_t { kQueries = 2, kKeys, kQuerySlopes, kKeySlopes, kValueSlopes, kRow };

// What forward and backward pass know alike.
struct Joint {
  JointHeads how;
  std::vector<std::int64_t> lengths;
  Tensor q_gains, k_gains, cos, sin;
};

// Rows of a sequence among all.
struct Sequence {
  std::int64_t first, length;
};

std::vector<Sequence> sequences_of(const Tensor& qkv, const std::vector<std::int64_t>& lengths) {
  std::vector<Sequence> sequences;
  if (lengths.empty())
    for (std::int64_t b = 0; b < qkv.size(0); ++b)
      sequences.push_back({b * qkv.size(1), qkv.size(1)});
  std::int64_t first = 0;
  for (const auto length : lengths) {
    sequences.push_back({first, length});
    first += length;
  }
  return sequences;
}

// Calls work(sequence, group, part) for every sequence and every set of keys and values, long
// sequences, which may come first, and short ones in turn. Parts as in share_rows().
template <typename Work>
void for_groups(const std::vector<Sequence>& sequences, std::int64_t groups, const Work& work) {
  const auto count = static_cast<std::int64_t>(sequences.size());
  share_rows(count * groups, [&](std::int64_t first, std::int64_t tasks, std::int64_t part) {
    const OneThread guard;
    for (std::int64_t i = first; i < first + tasks; ++i) {
      const auto n = i / groups, b = n % 2 == 0 ? n / 2 : count - 1 - n / 2;
      work(sequences[static_cast<std::size_t>(b)], i % groups, part);
    }
  });
}

// One sequence's heads in the joint product, and what is kept of them.
class Heads {
 public:
  Heads(const Joint& joint, const Tensor& qkv, const Sequence& sequence)
      : joint_(joint),
        sequence_(sequence),
        stride_(qkv.size(-1)),
        width_(stride_ / (joint.how.heads + 2 * joint.how.groups)),
        data_(qkv.data_ptr<float>() + sequence.first * stride_) {}

  // Heads are counted through queries, keys and values.
  [[nodiscard]] Head raw(std::int64_t head) const {
    return {data_ + head * width_, stride_, width_};
  }
  [[nodiscard]] Head scratch(Scratch place) const {
    return {head_scratch(place, sequence_.length * width_), width_, width_};
  }
  [[nodiscard]] Head placed(std::int64_t head, const Tensor& scales, bool again,
                            Scratch place) const {
    const auto to = scratch(place);
    kernels().place(raw(head).data, stride_, placing(head), scale(scales, head), again, to.data,
                    sequence_.length, width_);
    return to;
  }
  // From the slopes of a placed head to those of the raw one, which lies as here but in `d_qkv`.
  void place_back(std::int64_t head, const Tensor& scales, const Head& slopes, const Heads& d_qkv,
                  const Tensor& sums, std::int64_t part) const {
    kernels().place_backward(raw(head).data, stride_, placing(head), scale(scales, head),
                             slopes.data, d_qkv.raw(head).data,
                             sums.defined() ? sums.data_ptr<float>() + part * width_ : nullptr,
                             head_scratch(kRow, width_), sequence_.length, width_);
  }
  [[nodiscard]] Head result(const Tensor& out, std::int64_t head) const {
    const auto down = joint_.how.heads * width_;
    return {out.data_ptr<float>() + sequence_.first * down + head * width_, down, width_};
  }
  [[nodiscard]] SoftmaxRow* softmax(const Tensor& rows, std::int64_t head) const {
    static_assert(sizeof(SoftmaxRow) == 2 * sizeof(float));
    return reinterpret_cast<SoftmaxRow*>(rows.data_ptr<float>()) +
           sequence_.first * joint_.how.heads + head * sequence_.length;
  }

 private:
  [[nodiscard]] float* scale(const Tensor& scales, std::int64_t head) const {
    if (!joint_.how.norm) return nullptr;
    return scales.data_ptr<float>() + sequence_.first * (joint_.how.heads + joint_.how.groups) +
           head * sequence_.length;
  }
  [[nodiscard]] HeadPlacing placing(std::int64_t head) const {
    const auto& gains = head < joint_.how.heads ? joint_.q_gains : joint_.k_gains;
    const auto first = joint_.lengths.empty() ? 0 : sequence_.first * (width_ / 2);
    return {.norm = joint_.how.norm,
            .norm_first = joint_.how.norm_first,
            .gains = gains.defined() ? gains.data_ptr<float>() : nullptr,
            .eps = static_cast<float>(joint_.how.eps),
            .cos = joint_.cos.data_ptr<float>() + first,
            .sin = joint_.sin.data_ptr<float>() + first};
  }

  const Joint& joint_;
  Sequence sequence_;
  std::int64_t stride_, width_;
  float* data_;
};

class JointAttention : public torch::autograd::Function<JointAttention> {
 public:
  static Tensor forward(Context* context, const Tensor& input, const std::optional<Tensor>& q_gains,
                        const std::optional<Tensor>& k_gains, const JointHeads& how,
                        const std::vector<std::int64_t>& lengths) {
    const ProfileScope scope(Part::kAttention);
    const auto qkv = input.contiguous();
    const Joint joint{how,
                      lengths,
                      q_gains.value_or(Tensor()),
                      k_gains.value_or(Tensor()),
                      how.rotary.cos.to(at::kFloat).contiguous(),
                      how.rotary.sin.to(at::kFloat).contiguous()};
    const auto tokens = qkv.size(0) * qkv.size(1), shared = how.heads / how.groups;
    const auto width = qkv.size(-1) / (how.heads + 2 * how.groups);
    const auto out = at::empty({qkv.size(0), qkv.size(1), how.heads * width}, qkv.options()),
               rows = at::empty({tokens * how.heads, 2}, qkv.options()),
               scales =
                   at::empty({how.norm ? tokens * (how.heads + how.groups) : 0}, qkv.options());
    for_groups(sequences_of(qkv, lengths), how.groups,
               [&](const Sequence& sequence, std::int64_t g, std::int64_t) {
                 const Heads heads(joint, qkv, sequence);
                 const auto k = heads.placed(how.heads + g, scales, false, kKeys),
                            v = heads.raw(how.heads + how.groups + g);
                 for (auto h = g * shared; h < (g + 1) * shared; ++h)
                   attend_head({heads.placed(h, scales, false, kQueries), k, v, sequence.length},
                               heads.result(out, h), heads.softmax(rows, h));
               });
    context->save_for_backward(
        {qkv, joint.q_gains, joint.k_gains, joint.cos, joint.sin, rows, scales});
    context->saved_data["lengths"] = lengths;
    context->saved_data["how"] =
        std::vector<std::int64_t>{how.heads, how.groups, how.norm, how.norm_first};
    context->saved_data["eps"] = how.eps;
    return out;
  }

  static Variables backward(Context* context, Variables slopes) {
    const ProfileScope scope(Part::kAttention);
    const auto saved = context->get_saved_variables();
    const auto &qkv = saved[0], &rows = saved[5], &scales = saved[6];
    const auto set = context->saved_data["how"].toIntVector();
    const Joint joint{{.heads = set[0],
                       .groups = set[1],
                       .rotary = {},
                       .norm = set[2] != 0,
                       .norm_first = set[3] != 0,
                       .eps = context->saved_data["eps"].toDouble()},
                      context->saved_data["lengths"].toIntVector(),
                      saved[1],
                      saved[2],
                      saved[3],
                      saved[4]};
    const auto& how = joint.how;
    const auto shared = how.heads / how.groups;
    const auto slope = slopes[0].contiguous();
    const auto d_qkv = read_no_more(qkv) ? qkv : at::empty(qkv.sizes(), qkv.options());
    const auto q_sums = joint.q_gains.defined() ? gain_sums(joint.q_gains.size(0)) : Tensor(),
               k_sums = joint.k_gains.defined() ? gain_sums(joint.k_gains.size(0)) : Tensor();
    for_groups(sequences_of(qkv, joint.lengths), how.groups,
               [&](const Sequence& sequence, std::int64_t g, std::int64_t part) {
                 const Heads heads(joint, qkv, sequence), d_heads(joint, d_qkv, sequence);
                 const auto key = how.heads + g, value = key + how.groups;
                 const auto k = heads.placed(key, scales, true, kKeys), v = heads.raw(value),
                            d_q = heads.scratch(kQuerySlopes), d_k = heads.scratch(kKeySlopes),
                            d_v = heads.scratch(kValueSlopes);
                 for (auto h = g * shared; h < (g + 1) * shared; ++h) {
                   attend_head_backward(
                       {heads.placed(h, scales, true, kQueries), k, v, sequence.length},
                       heads.softmax(rows, h), heads.result(slope, h),
                       {d_q, d_k, d_v, h > g * shared});
                   heads.place_back(h, scales, d_q, d_heads, q_sums, part);
                 }
                 heads.place_back(key, scales, d_k, d_heads, k_sums, part);
                 // Only now: all heads of the group have read the values.
                 const auto to = d_heads.raw(value);
                 for (std::int64_t t = 0; t < sequence.length; ++t)
                   std::copy_n(d_v.row(t), d_v.width, to.row(t));
               });
    const auto sum = [](const Tensor& sums) { return sums.defined() ? sums.sum(0) : Tensor(); };
    return {d_qkv, sum(q_sums), sum(k_sums), Tensor(), Tensor()};
  }
};

}  // namespace

Tensor joint_attention(const Tensor& qkv, const Tensor& q_gains, const Tensor& k_gains,
                       const JointHeads& how, const std::vector<std::int64_t>& lengths) {
  const auto optional = [](const Tensor& x) {
    return x.defined() ? std::optional(x) : std::nullopt;
  };
  return JointAttention::apply(qkv, optional(q_gains), optional(k_gains), how, lengths);
}

}  // namespace rondo::fused
