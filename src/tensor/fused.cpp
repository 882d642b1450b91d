// The fused operations without attention.
#include "tensor/fused.h"

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
    const float* from = x_BTHK.data_ptr<float>();
    float* to = out.data_ptr<float>();
    at::parallel_for(0, x_BTHK.size(0) * length, rows_per_thread(heads * width),
                     [&](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t token = begin; token < end; ++token) {
                         const auto row = token * heads * width, at = token % length * (width / 2);
                         kernels().rotate(from + row, to + row, angles.cos.data_ptr<float>() + at,
                                          angles.sin.data_ptr<float>() + at, heads, width / 2,
                                          back);
                       }
                     });
    return out;
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

}  // namespace rondo::fused
