// The fused operations without attention.
#include "tensor/fused.h"

#include <algorithm>

#include "tensor/kernels.h"
#include "tensor/profile.h"

namespace rondo::fused {
namespace {

using Context = torch::autograd::AutogradContext;
using Variables = torch::autograd::variable_list;

// Rows that are worth a thread of their own.
std::int64_t grain(std::int64_t width) { return std::max<std::int64_t>(1, 16384 / width); }

std::int64_t rows_of(const Tensor& x) { return x.numel() / x.size(-1); }

class RmsNorm : public torch::autograd::Function<RmsNorm> {
 public:
  static Tensor forward(Context* context, const Tensor& input,
                        const std::optional<Tensor>& given_gains, double eps) {
    const ProfileScope scope(Part::kElementwise);
    const auto weight = given_gains.value_or(Tensor());
    const auto x = input.contiguous();
    const auto rows = rows_of(x), width = x.size(-1);
    auto out = at::empty(x.sizes(), x.options());
    auto scale = at::empty({rows}, x.options());
    const float* gains = weight.defined() ? weight.data_ptr<float>() : nullptr;
    const float* from = x.data_ptr<float>();
    float *to = out.data_ptr<float>(), *kept = scale.data_ptr<float>();
    at::parallel_for(0, rows, grain(width), [&](std::int64_t begin, std::int64_t end) {
      kernels().rms_norm(from + begin * width, gains, static_cast<float>(eps), to + begin * width,
                         kept + begin, end - begin, width);
    });
    context->save_for_backward({x, weight, scale});
    return out;
  }

  static Variables backward(Context* context, Variables slopes) {
    const ProfileScope scope(Part::kElementwise);
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &weight = saved[1], &scale = saved[2];
    const auto slope = slopes[0].contiguous();
    const auto rows = rows_of(x), width = x.size(-1);
    auto d_x = at::empty(x.sizes(), x.options());
    const bool gains = weight.defined();
    const auto parts = static_cast<std::int64_t>(at::get_num_threads());
    auto d_gains = gains ? at::zeros({parts, width}, x.options()) : Tensor();
    const auto each = (rows + parts - 1) / parts;
    // One share of the rows a part, so that each adds to sums of its own and the result does not
    // depend on which thread came first.
    at::parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part) {
        const auto first = part * each, count = std::min(each, rows - first);
        if (count <= 0) continue;
        kernels().rms_norm_backward(
            x.data_ptr<float>() + first * width, gains ? weight.data_ptr<float>() : nullptr,
            scale.data_ptr<float>() + first, slope.data_ptr<float>() + first * width,
            d_x.data_ptr<float>() + first * width,
            gains ? d_gains.data_ptr<float>() + part * width : nullptr, count, width);
      }
    });
    return {d_x, gains ? d_gains.sum(0) : Tensor(), Tensor()};
  }
};

class SwiGlu : public torch::autograd::Function<SwiGlu> {
 public:
  static Tensor forward(Context* context, const Tensor& input) {
    const ProfileScope scope(Part::kElementwise);
    const auto gate_up = input.contiguous();
    const auto rows = rows_of(gate_up), width = gate_up.size(-1) / 2;
    auto shape = gate_up.sizes().vec();
    shape.back() = width;
    auto out = at::empty(shape, gate_up.options());
    const float* from = gate_up.data_ptr<float>();
    float* to = out.data_ptr<float>();
    at::parallel_for(0, rows, grain(width), [&](std::int64_t begin, std::int64_t end) {
      kernels().swiglu(from + begin * 2 * width, to + begin * width, end - begin, width);
    });
    context->save_for_backward({gate_up});
    return out;
  }

  static Variables backward(Context* context, Variables slopes) {
    const ProfileScope scope(Part::kElementwise);
    const auto gate_up = context->get_saved_variables()[0];
    const auto slope = slopes[0].contiguous();
    const auto rows = rows_of(gate_up), width = gate_up.size(-1) / 2;
    auto result = at::empty(gate_up.sizes(), gate_up.options());
    const float *from = gate_up.data_ptr<float>(), *back = slope.data_ptr<float>();
    float* to = result.data_ptr<float>();
    at::parallel_for(0, rows, grain(width), [&](std::int64_t begin, std::int64_t end) {
      kernels().swiglu_backward(from + begin * 2 * width, back + begin * width,
                                to + begin * 2 * width, end - begin, width);
    });
    return {result};
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
    at::parallel_for(0, x_BTHK.size(0) * length, grain(heads * width),
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
    at::parallel_for(0, batch * length, grain(qkv.size(2)), [&](auto begin, auto end) {
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
    at::parallel_for(0, batch * length, grain(all), [&](auto begin, auto end) {
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
