// Power iteration with its whole Krylov space.
#include "diagnose/spectrum.h"

#include <algorithm>

namespace rondo {
namespace {

/// Eigenvalues are looked at after so many further products.
constexpr std::int64_t kStride = 8;
/// What is left of a vector after the others are taken out of it that counts as nothing.
constexpr double kNothing = 1e-13;

/// Largest eigenvalue of h [k, k], whose space is left with a vector of length `leaving`.
Radius largest(const Tensor& h, double leaving, double tolerance) {
  const auto [values, vectors] = at::linalg_eig(h);
  const auto sizes = values.abs();
  const auto place = sizes.argmax().item<std::int64_t>();
  const auto k = h.size(0);
  Radius radius{.value = sizes[place].item<double>(), .converged = false, .iterations = k};
  const double residual = leaving * vectors[k - 1][place].abs().item<double>();
  radius.converged = residual <= tolerance * radius.value;
  return radius;
}

/// Start vectors that no map knows of.
Tensor start_like(const Tensor& x_PD) {
  const auto phase = at::arange(x_PD.size(1), x_PD.options()) * 1.7 + 0.4;
  const auto v = at::sin(phase * phase).expand(x_PD.sizes());
  return v / v.norm(2, {1}, true);
}

}  // namespace

std::vector<Radius> spectral_radii(const std::function<Tensor(const Tensor&)>& map,
                                   const Tensor& x_PD, const SpectrumLimits& limits) {
  const at::AutoGradMode with_gradients(true);
  const auto leaf_PD = x_PD.detach().requires_grad_();
  const auto y_PD = map(leaf_PD);
  const auto maps = x_PD.size(0), width = x_PD.size(1);
  const auto most = std::min(limits.iterations, width);
  const auto basis = at::zeros({maps, most + 1, width}, x_PD.options());
  const auto h = at::zeros({maps, most + 1, most}, x_PD.options());
  basis.select(1, 0).copy_(start_like(leaf_PD.detach()));
  std::vector<Radius> radii(static_cast<std::size_t>(maps));
  for (std::int64_t k = 1; k <= most; ++k) {
    const NoGrad guard;
    auto w_PD = torch::autograd::grad({y_PD}, {leaf_PD}, {basis.select(1, k - 1)},
                                      /*retain_graph=*/true)[0];
    const auto known = basis.narrow(1, 0, k);
    const auto length = w_PD.norm(2, {1}, true);
    // Twice, as once leaves what rounding has put there.
    for (int again = 0; again < 2; ++again) {
      const auto parts = at::matmul(known, w_PD.unsqueeze(2)).squeeze(2);
      w_PD = w_PD - at::matmul(parts.unsqueeze(1), known).squeeze(1);
      h.narrow(1, 0, k).select(2, k - 1).add_(parts);
    }
    const auto left = w_PD.norm(2, {1}, true);
    const auto ended = left <= kNothing * length;
    h.select(1, k).select(1, k - 1).copy_(at::where(ended, 0.0, left).squeeze(1));
    basis.select(1, k).copy_(at::where(ended, 0.0, w_PD / left));
    if (k % kStride != 0 && k != most) continue;
    bool all = true;
    for (std::int64_t p = 0; p < maps; ++p) {
      auto& radius = radii[static_cast<std::size_t>(p)];
      // A value once settled stays: what follows an ended space is zeros.
      if (radius.converged) continue;
      const double leaving = k == width ? 0.0 : h[p][k][k - 1].item<double>();
      radius = largest(h[p].narrow(0, 0, k).narrow(1, 0, k), leaving, limits.tolerance);
      all = all && radius.converged;
    }
    if (all) break;
  }
  return radii;
}

}  // namespace rondo
