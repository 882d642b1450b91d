// Products together with what comes right before or after them.
#include <algorithm>

#include "tensor/fused.h"
#include "tensor/fused_rows.h"
#include "tensor/gemm.h"
#include "tensor/kernels.h"
#include "tensor/profile.h"

namespace rondo::fused {
namespace {

using Context = torch::autograd::AutogradContext;
using Variables = torch::autograd::variable_list;

Tensor flat(const Tensor& x) { return x.reshape({-1, x.size(-1)}); }

std::optional<Tensor> optional(const Tensor& x) {
  return x.defined() ? std::optional(x) : std::nullopt;
}

Tensor empty_product(const Tensor& x, const Tensor& weight) {
  auto shape = x.sizes().vec();
  shape.back() = weight.size(0);
  return at::empty(shape, x.options());
}

// Rows of a backward pass that are worked on at once.
constexpr std::int64_t kRowsAtOnce = 2048;

// A product whose left factor is a cheap function of what is kept. `Left` says which; its way back
// returns the factor again, which the gradient of the weight needs.
template <typename Left>
class Product : public torch::autograd::Function<Product<Left>> {
 public:
  static Tensor forward(Context* context, const Tensor& input, const std::optional<Tensor>& gains,
                        double eps, const Tensor& weight, const std::optional<Tensor>& known) {
    const auto x = input.contiguous(), factor = known ? *known : as_factor(weight);
    const auto left = Left::compute(x, gains.value_or(Tensor()), eps);
    context->save_for_backward({x, gains.value_or(Tensor()), factor, left.scale});
    context->saved_data["eps"] = eps;
    auto out = empty_product(x, weight);
    auto rows = flat(out);
    multiply(flat(left.out), factor.t(), rows);
    return out;
  }

  static Variables backward(Context* context, Variables slopes) {
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &gains = saved[1], &factor = saved[2], &scale = saved[3];
    const auto eps = context->saved_data["eps"].toDouble();
    const auto slope = as_factor(flat(slopes[0]));
    const auto d_x = Left::place_of_gradient(x);
    const auto sums = gains.defined() ? gain_sums(x.size(-1)) : Tensor();
    Tensor d_weight;
    if (context->needs_input_grad(gains.defined() ? 2 : 1))
      d_weight = at::empty(factor.sizes(), x.options());
    // Some rows at a time: a layer's backward pass comes on top of what all layers keep.
    const auto x_rows = flat(x), d_x_rows = flat(d_x);
    for (std::int64_t begin = 0; begin < x_rows.size(0); begin += kRowsAtOnce) {
      const auto rows = [&, count = std::min(kRowsAtOnce, x_rows.size(0) - begin)](
                            const Tensor& all) { return all.narrow(0, begin, count); };
      const auto slope_part = rows(slope);
      auto d_left = Left::left_gradient(rows(d_x_rows));
      multiply(slope_part, factor, d_left);
      const auto left =
          Left::backward({rows(x_rows), gains, scale.defined() ? rows(scale) : scale, sums}, eps,
                         d_left, rows(d_x_rows));
      if (d_weight.defined()) multiply(slope_part.t(), left, d_weight, begin > 0);
    }
    return {d_x, gains.defined() ? sums.sum(0) : Tensor(), Tensor(), d_weight, Tensor()};
  }
};

// Some rows of what a product keeps, and the sums of the gains' gradients.
struct LeftRows {
  Tensor x, gains, scale, sums;
};

struct Normed {
  static NormedRows compute(const Tensor& x, const Tensor& gains, double eps) {
    return norm_rows(x, gains, eps, factor_type());
  }
  static Tensor place_of_gradient(const Tensor& x) { return at::empty(x.sizes(), x.options()); }
  // What is computed from the gradient of the normed rows takes its place.
  static Tensor left_gradient(const Tensor& d_x) { return d_x; }
  static Tensor backward(const LeftRows& rows, double eps, const Tensor& d_left,
                         const Tensor& d_x) {
    norm_rows_backward_into(rows.x, rows.gains, rows.scale, d_left, Tensor(), d_x, rows.sums);
    return compute(rows.x, rows.gains, eps).out;
  }
};

struct Activated {
  static NormedRows compute(const Tensor& x, const Tensor&, double) {
    return {swiglu_rows(x, factor_type()), Tensor()};
  }
  static Tensor place_of_gradient(const Tensor& x) {
    return read_no_more(x) ? x : at::empty(x.sizes(), x.options());
  }
  static Tensor left_gradient(const Tensor& d_x) {
    return at::empty({d_x.size(0), d_x.size(1) / 2}, d_x.options());
  }
  static Tensor backward(const LeftRows& rows, double, const Tensor& d_left, const Tensor& d_x) {
    const auto type = factor_type();
    const auto left = type == at::kFloat ? d_left : at::empty_like(d_left, type);
    swiglu_rows_backward_into(rows.x, d_left, d_x, left);
    return left;
  }
};

// Numbers that a part of the logits may take: it should stay in the cache.
constexpr std::int64_t kLogitsAtOnce = 1 << 19;

class HeadLoss : public torch::autograd::Function<HeadLoss> {
 public:
  static Tensor forward(Context* context, const Tensor& input, const Tensor& weight,
                        const Tensor& targets, double scale, double softcap, bool learns) {
    const ProfileScope scope(Part::kHead);
    // Both enter many products, so they are rounded once, where they are rounded.
    const auto h = as_factor(input.contiguous()), head = as_factor(weight);
    const auto rows = h.size(0), vocab = weight.size(0);
    auto d_h = learns ? at::empty(h.sizes(), input.options()) : Tensor();
    auto d_weight = learns ? at::empty(weight.sizes(), weight.options()) : Tensor();
    const auto at_once =
        std::clamp<std::int64_t>(kLogitsAtOnce / vocab, 16, std::max<std::int64_t>(rows, 16));
    const auto all_targets = targets.contiguous();
    double nats = 0;
    for (std::int64_t begin = 0; begin < rows; begin += at_once) {
      const auto count = std::min(at_once, rows - begin);
      const auto part = h.narrow(0, begin, count);
      auto logits = at::empty({count, vocab}, input.options());
      multiply(part, head.t(), logits);
      nats += descend(logits, all_targets.data_ptr<std::int64_t>() + begin, scale, softcap);
      if (!learns) continue;
      auto d_part = d_h.narrow(0, begin, count);
      const auto slope = as_factor(logits);
      multiply(slope, head, d_part);
      multiply(slope.t(), part, d_weight, begin > 0);
    }
    context->save_for_backward({d_h, d_weight});
    return at::scalar_tensor(nats, input.options());
  }

  static Variables backward(Context* context, Variables slopes) {
    const ProfileScope scope(Part::kHead);
    const auto saved = context->get_saved_variables();
    return {passed_on(saved[0], slopes[0]),
            passed_on(saved[1], slopes[0]),
            Tensor(),
            Tensor(),
            Tensor(),
            Tensor()};
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

Tensor norm_project(const Tensor& x, const Tensor& gains, double eps, const Weight& weight) {
  return Product<Normed>::apply(x, optional(gains), eps, weight.value, optional(weight.factor));
}

Tensor swiglu_project(const Tensor& gate_up, const Weight& weight) {
  return Product<Activated>::apply(gate_up, std::optional<Tensor>(), 0.0, weight.value,
                                   optional(weight.factor));
}

Tensor head_loss(const Tensor& h_ND, const Tensor& weight, const Tensor& targets_N, double scale,
                 double softcap) {
  const bool learns =
      at::GradMode::is_enabled() && (h_ND.requires_grad() || weight.requires_grad());
  return HeadLoss::apply(h_ND, weight, targets_N, scale, softcap, learns);
}

}  // namespace rondo::fused
