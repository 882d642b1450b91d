// Comparing tensors, and gradients against finite differences.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "tensor/tensor.h"
#include "tests/reference/plain.h"

namespace rondo::reference {

inline Values to_values(const Tensor& tensor) {
  const auto flat = tensor.detach().to(at::kDouble).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

/// Deterministic values of about unit size.
inline Tensor values(std::vector<std::int64_t> shape, double phase = 0.0) {
  std::int64_t count = 1;
  for (const auto n : shape) count *= n;
  const auto index = at::arange(count, at::kDouble);
  return ((index * 0.7311 + phase).sin() + (index * 0.317 + 2.0 * phase).cos() * 0.5).view(shape);
}

/// Largest difference relative to the largest expected value.
inline double distance(const Values& got, const Values& expected) {
  double most = 0, scale = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    most = std::max(most, std::abs(got[i] - expected[i]));
    scale = std::max(scale, std::abs(expected[i]));
  }
  return scale == 0 ? most : most / scale;
}

inline double distance(const Tensor& got, const Tensor& expected) {
  return distance(to_values(got), to_values(expected));
}

/// Holds the gradient of `loss` with respect to `input` (double precision, a leaf) against central
/// differences at up to `samples` of its elements.
inline void check_gradient(const std::function<Tensor()>& loss, Tensor input,
                           double tolerance = 1e-6, std::int64_t samples = 24) {
  input.mutable_grad().reset();
  back_propagate(loss());
  const auto gradient = input.grad().defined() ? input.grad().clone() : at::zeros_like(input);
  const double scale = std::max(1e-3, gradient.abs().max().item<double>());
  const NoGrad guard;
  auto flat = input.view({-1});
  const auto stride = std::max<std::int64_t>(1, flat.numel() / samples);
  for (std::int64_t i = 0; i < flat.numel(); i += stride) {
    constexpr double kStep = 1e-5;
    auto element = flat[i];
    const double start = element.item<double>();
    element.fill_(start + kStep);
    const double above = loss().item<double>();
    element.fill_(start - kStep);
    const double below = loss().item<double>();
    element.fill_(start);
    const double wanted = (above - below) / (2.0 * kStep);
    EXPECT_NEAR(gradient.view({-1})[i].item<double>() / scale, wanted / scale, tolerance)
        << "element " << i;
  }
}

}  // namespace rondo::reference
