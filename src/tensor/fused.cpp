// The fused operations without attention.
#include "tensor/fused.h"

#include <algorithm>

#include "tensor/fused_rows.h"
#include "tensor/kernels.h"
#include "tensor/profile.h"

namespace rondo::fused {
namespace {

using Context = torch::autograd::AutogradContext;
using Variables = torch::autograd::variable_list;

class RmsNorm : public torch::autograd::Function<RmsNorm> {
 public:
  static Tensor forward(Context* context, const Tensor& input, const std::optional<Tensor>& gains,
                        double eps) {
    const auto x = input.contiguous();
    const auto normed = norm_rows(x, gains.value_or(Tensor()), eps);
    context->save_for_backward({x, gains.value_or(Tensor()), normed.scale});
    return normed.out;
  }

  static Variables backward(Context* context, Variables slopes) {
    const auto saved = context->get_saved_variables();
    const auto d = norm_rows_backward(saved[0], saved[1], saved[2], slopes[0].contiguous());
    return {d.x, d.gains, Tensor()};
  }
};

class SwiGlu : public torch::autograd::Function<SwiGlu> {
 public:
  static Tensor forward(Context* context, const Tensor& input) {
    const auto gate_up = input.contiguous();
    context->save_for_backward({gate_up});
    return swiglu_rows(gate_up);
  }

  static Variables backward(Context* context, Variables slopes) {
    return {swiglu_rows_backward(context->get_saved_variables()[0], slopes[0].contiguous())};
  }
};

// Cosines and sines in single precision, side by side in memory.
struct Angles {
  Tensor cos, sin;
  explicit Angles(const Tensor& c, const Tensor& s)
      : cos(c.to(at::kFloat).contiguous()), sin(s.to(at::kFloat).contiguous()) {}
};

// Copies `heads` heads a token from one layout to another, rotated by the token's angles.
struct HeadCopy {
  const float* from;
  std::int64_t from_stride;
  float* to;
  std::int64_t to_stride;
  std::int64_t heads, width;
};

void copy_heads(const HeadCopy& copy, std::int64_t begin, std::int64_t end, std::int64_t length,
                const Angles* angles, bool back) {
  const auto half = copy.width / 2;
  for (std::int64_t token = begin; token < end; ++token) {
    const float* from = copy.from + token * copy.from_stride;
    float* to = copy.to + token * copy.to_stride;
    if (angles == nullptr) {
      std::copy_n(from, copy.heads * copy.width, to);
    } else {
      const auto at = (token % length) * half;
      kernels().rotate(from, to, angles->cos.data_ptr<float>() + at,
                       angles->sin.data_ptr<float>() + at, copy.heads, half, back);
    }
  }
}

class Rotate : public torch::autograd::Function<Rotate> {
 public:
  static Tensor forward(Context* context, const Tensor& x_BTHK, const Tensor& cos,
                        const Tensor& sin) {
    const ProfileScope scope(Part::kElementwise);
    context->save_for_backward({cos, sin});
    return turned(x_BTHK, Angles(cos, sin), false);
  }
  static Variables backward(Context* context, Variables slopes) {
    const ProfileScope scope(Part::kElementwise);
    const auto saved = context->get_saved_variables();
    return {turned(slopes[0], Angles(saved[0], saved[1]), true), Tensor(), Tensor()};
  }

 private:
  static Tensor turned(const Tensor& input_BTHK, const Angles& angles, bool back) {
    const auto x_BTHK = input_BTHK.contiguous();
    auto out = at::empty(x_BTHK.sizes(), x_BTHK.options());
    const auto length = x_BTHK.size(1), heads = x_BTHK.size(2), width = x_BTHK.size(3);
    const HeadCopy copy{x_BTHK.data_ptr<float>(),
                        heads * width,
                        out.data_ptr<float>(),
                        heads * width,
                        heads,
                        width};
    at::parallel_for(0, x_BTHK.size(0) * length, rows_per_thread(heads * width),
                     [&](std::int64_t begin, std::int64_t end) {
                       copy_heads(copy, begin, end, length, &angles, back);
                     });
    return out;
  }
};

class SplitHeads : public torch::autograd::Function<SplitHeads> {
 public:
  static Variables forward(Context* context, const Tensor& input, const std::optional<Tensor>& cos,
                           const std::optional<Tensor>& sin, std::int64_t heads,
                           std::int64_t groups) {
    const ProfileScope scope(Part::kElementwise);
    const auto qkv = input.contiguous();
    const auto batch = qkv.size(0), length = qkv.size(1);
    const auto width = qkv.size(2) / (heads + 2 * groups);
    Variables parts = {at::empty({batch, length, heads, width}, qkv.options()),
                       at::empty({batch, length, groups, width}, qkv.options()),
                       at::empty({batch, length, groups, width}, qkv.options())};
    const auto angles = cos ? std::optional(Angles(*cos, *sin)) : std::nullopt;
    const std::int64_t counts[] = {heads, groups, groups};
    at::parallel_for(0, batch * length, rows_per_thread(qkv.size(2)), [&](auto begin, auto end) {
      std::int64_t before = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        const HeadCopy copy{qkv.data_ptr<float>() + before,
                            qkv.size(2),
                            parts[i].data_ptr<float>(),
                            counts[i] * width,
                            counts[i],
                            width};
        copy_heads(copy, begin, end, length, angles && i < 2 ? &*angles : nullptr, false);
        before += counts[i] * width;
      }
    });
    context->save_for_backward({cos.value_or(Tensor()), sin.value_or(Tensor())});
    context->saved_data["shape"] = std::vector<std::int64_t>{batch, length, heads, groups, width};
    return parts;
  }

  static Variables backward(Context* context, Variables slopes) {
    const ProfileScope scope(Part::kElementwise);
    const auto saved = context->get_saved_variables();
    const auto shape = context->saved_data["shape"].toIntVector();
    const auto batch = shape[0], length = shape[1], width = shape[4];
    const std::int64_t counts[] = {shape[2], shape[3], shape[3]};
    const auto all = (shape[2] + 2 * shape[3]) * width;
    const auto& like = slopes[0].defined()   ? slopes[0]
                       : slopes[1].defined() ? slopes[1]
                                             : slopes[2];
    auto d_qkv = at::empty({batch, length, all}, like.options());
    const auto angles =
        saved[0].defined() ? std::optional(Angles(saved[0], saved[1])) : std::nullopt;
    for (std::size_t i = 0; i < 3; ++i)
      slopes[i] = slopes[i].defined()
                      ? slopes[i].contiguous()
                      : at::zeros({batch, length, counts[i], width}, like.options());
    at::parallel_for(0, batch * length, rows_per_thread(all), [&](auto begin, auto end) {
      std::int64_t before = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        const HeadCopy copy{slopes[i].data_ptr<float>(),
                            counts[i] * width,
                            d_qkv.data_ptr<float>() + before,
                            all,
                            counts[i],
                            width};
        copy_heads(copy, begin, end, length, angles && i < 2 ? &*angles : nullptr, true);
        before += counts[i] * width;
      }
    });
    return {d_qkv, Tensor(), Tensor(), Tensor(), Tensor()};
  }
};

}  // namespace

bool suits(const Tensor& x) { return x.scalar_type() == at::kFloat && x.is_cpu() && x.numel() > 0; }

Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  return RmsNorm::apply(x, weight.defined() ? std::optional(weight) : std::nullopt, eps);
}

Tensor swiglu(const Tensor& gate_up) { return SwiGlu::apply(gate_up); }

Tensor rotate(const Tensor& x_BTHK, const RotaryTable& table) {
  return Rotate::apply(x_BTHK, table.cos, table.sin);
}

std::array<Tensor, 3> split_heads(const Tensor& qkv, const RotaryTable* table, std::int64_t heads,
                                  std::int64_t groups) {
  const auto cos = table != nullptr ? std::optional(table->cos) : std::nullopt;
  const auto sin = table != nullptr ? std::optional(table->sin) : std::nullopt;
  const auto parts = SplitHeads::apply(qkv, cos, sin, heads, groups);
  return {parts[0], parts[1], parts[2]};
}

}  // namespace rondo::fused
