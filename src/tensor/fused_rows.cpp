// Row operations on all threads.
#include "tensor/fused_rows.h"

#include <algorithm>

#include "tensor/kernels.h"
#include "tensor/profile.h"

namespace rondo::fused {
namespace {

std::int64_t row_count(const Tensor& x) { return x.numel() / x.size(-1); }

std::uint16_t* bf16_data(const Tensor& x) {
  return reinterpret_cast<std::uint16_t*>(x.data_ptr<at::BFloat16>());
}

}  // namespace

bool read_no_more(const Tensor& kept) {
  return graph_is_spent() && kept.use_count() <= 2 && kept.storage().use_count() == 1;
}

std::int64_t rows_per_thread(std::int64_t width) {
  return std::max<std::int64_t>(1, 16384 / width);
}

void norm_rows_into(const Tensor& x, const Tensor& gains, double eps, const Tensor& out,
                    const Tensor& scale) {
  const ProfileScope scope(Part::kElementwise);
  const auto rows = row_count(x), width = x.size(-1);
  const float* by = gains.defined() ? gains.data_ptr<float>() : nullptr;
  const float* from = x.data_ptr<float>();
  float* kept = scale.data_ptr<float>();
  const auto run = [&](auto* to, auto kernel) {
    at::parallel_for(0, rows, rows_per_thread(width), [&](std::int64_t begin, std::int64_t end) {
      kernel(from + begin * width, by, static_cast<float>(eps), to + begin * width, kept + begin,
             end - begin, width);
    });
  };
  if (out.scalar_type() == at::kFloat) {
    run(out.data_ptr<float>(), kernels().rms_norm);
  } else {
    run(bf16_data(out), kernels().rms_norm_bf16);
  }
}

NormedRows norm_rows(const Tensor& x, const Tensor& gains, double eps, at::ScalarType out) {
  NormedRows result{at::empty(x.sizes(), x.options().dtype(out)),
                    at::empty({row_count(x)}, x.options())};
  norm_rows_into(x, gains, eps, result.out, result.scale);
  return result;
}

Tensor gain_sums(std::int64_t width) {
  return at::zeros({static_cast<std::int64_t>(at::get_num_threads()), width});
}

void share_rows(std::int64_t rows,
                const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& work) {
  const auto parts = static_cast<std::int64_t>(at::get_num_threads());
  const auto each = (rows + parts - 1) / parts;
  at::parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      const auto first = part * each, count = std::min(each, rows - first);
      if (count > 0) work(first, count, part);
    }
  });
}

void norm_rows_backward_into(const Tensor& x, const Tensor& gains, const Tensor& scale,
                             const Tensor& d_out, const Tensor& base, const Tensor& d_x,
                             const Tensor& sums) {
  const ProfileScope scope(Part::kElementwise);
  const auto rows = row_count(x), width = x.size(-1);
  const bool learns = gains.defined();
  share_rows(rows, [&](std::int64_t first, std::int64_t count, std::int64_t part) {
    kernels().rms_norm_backward(
        x.data_ptr<float>() + first * width, learns ? gains.data_ptr<float>() : nullptr,
        scale.data_ptr<float>() + first, d_out.data_ptr<float>() + first * width,
        base.defined() ? base.data_ptr<float>() + first * width : nullptr,
        d_x.data_ptr<float>() + first * width,
        learns ? sums.data_ptr<float>() + part * width : nullptr, count, width);
  });
}

NormSlopes norm_rows_backward(const Tensor& x, const Tensor& gains, const Tensor& scale,
                              const Tensor& d_out) {
  NormSlopes slopes{at::empty(x.sizes(), x.options()), Tensor()};
  const auto sums = gains.defined() ? gain_sums(x.size(-1)) : Tensor();
  norm_rows_backward_into(x, gains, scale, d_out, Tensor(), slopes.x, sums);
  if (gains.defined()) slopes.gains = sums.sum(0);
  return slopes;
}

Tensor swiglu_rows(const Tensor& gate_up, at::ScalarType out) {
  const ProfileScope scope(Part::kElementwise);
  const auto rows = row_count(gate_up), width = gate_up.size(-1) / 2;
  auto shape = gate_up.sizes().vec();
  shape.back() = width;
  auto result = at::empty(shape, gate_up.options().dtype(out));
  const float* from = gate_up.data_ptr<float>();
  const auto run = [&](auto* to, auto kernel) {
    at::parallel_for(0, rows, rows_per_thread(width), [&](std::int64_t begin, std::int64_t end) {
      kernel(from + begin * 2 * width, to + begin * width, end - begin, width);
    });
  };
  if (out == at::kFloat) {
    run(result.data_ptr<float>(), kernels().swiglu);
  } else {
    run(bf16_data(result), kernels().swiglu_bf16);
  }
  return result;
}

void swiglu_rows_backward_into(const Tensor& gate_up, const Tensor& d_out, const Tensor& d_gate_up,
                               const Tensor& out) {
  const ProfileScope scope(Part::kElementwise);
  const auto rows = row_count(gate_up), width = gate_up.size(-1) / 2;
  const float *from = gate_up.data_ptr<float>(), *back = d_out.data_ptr<float>();
  float* to = d_gate_up.data_ptr<float>();
  const auto run = [&](auto* again, auto kernel) {
    at::parallel_for(0, rows, rows_per_thread(width), [&](std::int64_t begin, std::int64_t end) {
      kernel(from + begin * 2 * width, back + begin * width, to + begin * 2 * width,
             again + begin * width, end - begin, width);
    });
  };
  if (out.scalar_type() == at::kFloat) {
    run(out.data_ptr<float>(), kernels().swiglu_backward);
  } else {
    run(bf16_data(out), kernels().swiglu_backward_bf16);
  }
}

Tensor swiglu_rows_backward(const Tensor& gate_up, const Tensor& d_out) {
  auto result = at::empty(gate_up.sizes(), gate_up.options());
  swiglu_rows_backward_into(gate_up, d_out, result, at::empty_like(d_out));
  return result;
}

}  // namespace rondo::fused
