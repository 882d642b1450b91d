// The fused operations that condition a recurrence.
#include "tensor/fused.h"
#include "tensor/fused_rows.h"
#include "tensor/kernels.h"
#include "tensor/profile.h"

namespace rondo::fused {
namespace {

using Context = torch::autograd::AutogradContext;
using Variables = torch::autograd::variable_list;

std::int64_t rows_in(const Tensor& x) { return x.numel() / x.size(-1); }

float* data(const Tensor& x) { return x.defined() ? x.data_ptr<float>() : nullptr; }

/// Where the data of each tensor is from row `first` on; null stays null.
std::vector<float*> rows_from(at::TensorList tensors, std::int64_t first, std::int64_t width) {
  std::vector<float*> out;
  for (const auto& tensor : tensors)
    out.push_back(tensor.defined() ? data(tensor) + first * width : nullptr);
  return out;
}

Variables contiguous(at::TensorList tensors) {
  Variables out;
  for (const auto& tensor : tensors) out.push_back(tensor.contiguous());
  return out;
}

/// base, x, past 1 … n, factors 1 … n.
class Lean : public torch::autograd::Function<Lean> {
 public:
  static Tensor forward(Context* context, at::TensorList inputs) {
    const auto all = contiguous(inputs);
    const auto lags = (all.size() - 2) / 2;
    const auto& x = all[1];
    const at::TensorList past(&all[2], lags), factors(&all[2 + lags], lags);
    const auto by = rows_from(factors, 0, 0);
    const auto width = x.size(-1);
    auto out = at::empty(x.sizes(), x.options());
    at::parallel_for(0, rows_in(x), rows_per_thread(width), [&](auto begin, auto end) {
      const auto earlier = rows_from(past, begin, width);
      kernels().lean(data(all[0]) + begin * width, data(x) + begin * width, earlier.data(),
                     by.data(), static_cast<std::int64_t>(lags), data(out) + begin * width,
                     end - begin, width);
    });
    context->save_for_backward({all.begin() + 1, all.end()});
    return out;
  }

  static Variables backward(Context* context, Variables slopes) {
    const ProfileScope scope(Part::kElementwise);
    const auto saved = context->get_saved_variables();
    const auto lags = (saved.size() - 1) / 2;
    const auto& x = saved[0];
    const at::TensorList past(&saved[1], lags), factors(&saved[1 + lags], lags);
    const auto slope = slopes[0].contiguous();
    const auto width = x.size(-1);
    const auto by = rows_from(factors, 0, 0);
    Variables result(2 + 2 * lags), sums;
    result[0] = slopes[0];
    // What nobody asks for is not written: states of a prefix without gradient.
    for (std::size_t i = 1; i < 2 + lags; ++i)
      if (context->needs_input_grad(i)) result[i] = at::empty(x.sizes(), x.options());
    for (std::size_t j = 0; j < lags; ++j) sums.push_back(gain_sums(width));
    const at::TensorList d_past(&result[2], lags);
    share_rows(rows_in(x), [&](std::int64_t first, std::int64_t count, std::int64_t part) {
      const auto earlier = rows_from(past, first, width), to = rows_from(d_past, first, width);
      const auto own = rows_from(sums, part, width);
      kernels().lean_backward(data(x) + first * width, earlier.data(), by.data(),
                              static_cast<std::int64_t>(lags), data(slope) + first * width,
                              result[1].defined() ? data(result[1]) + first * width : nullptr,
                              to.data(), own.data(), count, width);
    });
    for (std::size_t j = 0; j < lags; ++j) result[2 + lags + j] = sums[j].sum(0);
    return result;
  }
};

class GatedAdd : public torch::autograd::Function<GatedAdd> {
 public:
  static Tensor forward(Context* context, const Tensor& stream, const Tensor& added,
                        const Tensor& factor) {
    const auto x = stream.contiguous(), branch = added.contiguous(), gate = factor.contiguous();
    const auto width = x.size(-1);
    auto out = at::empty(x.sizes(), x.options());
    at::parallel_for(0, rows_in(x), rows_per_thread(width), [&](auto begin, auto end) {
      kernels().gated_add(data(x) + begin * width, data(branch) + begin * width, data(gate),
                          data(out) + begin * width, end - begin, width);
    });
    context->save_for_backward({branch, gate});
    return out;
  }

  static Variables backward(Context* context, Variables slopes) {
    const ProfileScope scope(Part::kElementwise);
    const auto saved = context->get_saved_variables();
    const auto &branch = saved[0], &gate = saved[1];
    const auto slope = slopes[0].contiguous();
    const auto width = branch.size(-1);
    auto d_branch = at::empty(branch.sizes(), branch.options());
    const auto sums = gain_sums(width);
    share_rows(rows_in(branch), [&](std::int64_t first, std::int64_t count, std::int64_t part) {
      kernels().gated_add_backward(data(branch) + first * width, data(gate),
                                   data(slope) + first * width, data(d_branch) + first * width,
                                   data(sums) + part * width, count, width);
    });
    return {slopes[0], d_branch, sums.sum(0)};
  }
};

}  // namespace

Tensor lean(const Tensor& base, const Tensor& x, at::TensorList past, at::TensorList factors) {
  Variables all = {base, x};
  all.insert(all.end(), past.begin(), past.end());
  all.insert(all.end(), factors.begin(), factors.end());
  return Lean::apply(at::TensorList(all));
}

Tensor gated_add(const Tensor& x, const Tensor& branch, const Tensor& gate) {
  return GatedAdd::apply(x, branch, gate);
}

}  // namespace rondo::fused
