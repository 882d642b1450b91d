// Products together with what comes right before or after them.
#include <algorithm>

#include "tensor/fused.h"
#include "tensor/gemm.h"
#include "tensor/kernels.h"
#include "tensor/profile.h"

namespace rondo::fused {
namespace {

using Context = torch::autograd::AutogradContext;
using Variables = torch::autograd::variable_list;

Tensor flat(const Tensor& x) { return x.reshape({-1, x.size(-1)}); }

Tensor empty_product(const Tensor& x, const Tensor& weight) {
  auto shape = x.sizes().vec();
  shape.back() = weight.size(0);
  return at::empty(shape, x.options());
}

// out_ND = x_NI · weight_DI ᵀ
Tensor times(const Tensor& x_NI, const Tensor& weight) {
  auto out = at::empty({x_NI.size(0), weight.size(0)}, x_NI.options());
  multiply(x_NI, weight.t(), out);
  return out;
}

// A product whose left factor is a cheap function of what is kept. `Left` says which.
template <typename Left>
class Product : public torch::autograd::Function<Product<Left>> {
 public:
  static Tensor forward(Context* context, const Tensor& input, const std::optional<Tensor>& gains,
                        double eps, const Tensor& weight) {
    const auto x = input.contiguous();
    context->save_for_backward({x, gains.value_or(Tensor()), weight});
    context->saved_data["eps"] = eps;
    const NoGrad guard;
    const auto left = flat(Left::compute(x, gains.value_or(Tensor()), eps));
    auto out = empty_product(x, weight);
    auto rows = flat(out);
    multiply(left, weight.t(), rows);
    return out;
  }

  static Variables backward(Context* context, Variables slopes) {
    const auto saved = context->get_saved_variables();
    const auto eps = context->saved_data["eps"].toDouble();
    auto x = saved[0].detach().requires_grad_(true);
    auto gains = saved[1].defined() ? saved[1].detach().requires_grad_(true) : Tensor();
    const auto& weight = saved[2];
    const auto slope = flat(slopes[0]);
    Tensor left;
    {
      const at::AutoGradMode enable(true);
      left = Left::compute(x, gains, eps);
    }
    auto d_left = at::empty(left.sizes(), left.options());
    auto d_left_rows = flat(d_left);
    multiply(slope, weight, d_left_rows);
    Tensor d_weight;
    if (context->needs_input_grad(gains.defined() ? 2 : 1)) {
      d_weight = at::empty(weight.sizes(), weight.options());
      multiply(slope.t(), flat(left.detach()), d_weight);
    }
    std::vector<Tensor> wanted = {x};
    if (gains.defined()) wanted.push_back(gains);
    const auto found = gradients({left}, wanted, {d_left});
    return {found[0], gains.defined() ? found[1] : Tensor(), Tensor(), d_weight};
  }
};

struct Normed {
  static Tensor compute(const Tensor& x, const Tensor& gains, double eps) {
    return rms_norm(x, gains, eps);
  }
};

struct Activated {
  static Tensor compute(const Tensor& x, const Tensor&, double) { return swiglu(x); }
};

// Numbers that a part of the logits may take: it should stay in the cache.
constexpr std::int64_t kLogitsAtOnce = 1 << 20;

class HeadLoss : public torch::autograd::Function<HeadLoss> {
 public:
  static Tensor forward(Context* context, const Tensor& input, const Tensor& weight,
                        const Tensor& targets, double scale, double softcap, bool learns) {
    const ProfileScope scope(Part::kHead);
    const auto h = input.contiguous();
    const auto rows = h.size(0), vocab = weight.size(0);
    auto d_h = learns ? at::empty(h.sizes(), h.options()) : Tensor();
    auto d_weight = learns ? at::empty(weight.sizes(), weight.options()) : Tensor();
    const auto at_once =
        std::clamp<std::int64_t>(kLogitsAtOnce / vocab, 16, std::max<std::int64_t>(rows, 16));
    const auto all_targets = targets.contiguous();
    double nats = 0;
    for (std::int64_t begin = 0; begin < rows; begin += at_once) {
      const auto count = std::min(at_once, rows - begin);
      const auto part = h.narrow(0, begin, count);
      auto logits = times(part, weight);
      nats += descend(logits, all_targets.data_ptr<std::int64_t>() + begin, scale, softcap);
      if (!learns) continue;
      auto d_part = d_h.narrow(0, begin, count);
      multiply(logits, weight, d_part);
      multiply(logits.t(), part, d_weight, begin > 0);
    }
    context->save_for_backward({d_h, d_weight});
    return at::scalar_tensor(nats, h.options());
  }

  static Variables backward(Context* context, Variables slopes) {
    const ProfileScope scope(Part::kHead);
    const auto saved = context->get_saved_variables();
    return {saved[0] * slopes[0], saved[1] * slopes[0], Tensor(), Tensor(), Tensor(), Tensor()};
  }

 private:
  // Turns logits into their gradients; the sum of the losses.
  static double descend(Tensor& logits, const std::int64_t* targets, double scale, double softcap) {
    const auto rows = logits.size(0), vocab = logits.size(1);
    float* first = logits.data_ptr<float>();
    std::vector<float> nats(static_cast<std::size_t>(rows), 0.0f);
    at::parallel_for(0, rows, 8, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        float* row = first + i * vocab;
        if (targets[i] < 0) {
          std::fill(row, row + vocab, 0.0f);
        } else {
          nats[static_cast<std::size_t>(i)] = kernels().cross_entropy(
              row, vocab, targets[i], static_cast<float>(scale), static_cast<float>(softcap));
        }
      }
    });
    double sum = 0;
    for (const float one : nats) sum += static_cast<double>(one);
    return sum;
  }
};

}  // namespace

Tensor norm_project(const Tensor& x, const Tensor& gains, double eps, const Tensor& weight) {
  return Product<Normed>::apply(x, gains.defined() ? std::optional(gains) : std::nullopt, eps,
                                weight);
}

Tensor swiglu_project(const Tensor& gate_up, const Tensor& weight) {
  return Product<Activated>::apply(gate_up, std::optional<Tensor>(), 0.0, weight);
}

Tensor head_loss(const Tensor& h_ND, const Tensor& weight, const Tensor& targets_N, double scale,
                 double softcap) {
  const bool learns =
      at::GradMode::is_enabled() && (h_ND.requires_grad() || weight.requires_grad());
  return HeadLoss::apply(h_ND, weight, targets_N, scale, softcap, learns);
}

}  // namespace rondo::fused
