// The timestep conditionings.
#include "model/timestep.h"

#include <cmath>
#include <numbers>

namespace rondo {
namespace {

constexpr std::int64_t kFeatures = 8;

Parameter weights_of(std::vector<std::int64_t> shape) {
  return {.role = Role::kConditioning, .shape = std::move(shape), .value = {}};
}

/// One value for all channels.
Tensor widened(const Tensor& values, std::int64_t width) {
  auto shape = values.sizes().vec();
  shape.push_back(width);
  return values.unsqueeze(-1).expand(shape).contiguous();
}

/// x [layers, 2, D] as one tensor [D] for each branch, layer by layer.
std::vector<Tensor> by_branch(const Tensor& x) { return x.flatten(0, 1).unbind(0); }

}  // namespace

Timestep make_timestep(const ModelConfig& config) {
  Timestep timestep;
  const auto layers = config.core_layers;
  switch (config.timestep) {
    case TimestepForm::kNone:
      break;
    case TimestepForm::kLoopGate:
      timestep.loop_gate = weights_of({kFeatures});
      break;
    case TimestepForm::kBranchGate:
      timestep.branch_gate = weights_of({layers, 2, kFeatures});
      break;
    case TimestepForm::kAdaln:
      timestep.adaln = weights_of({layers, 2, 2 * config.d_model, kFeatures});
      break;
  }
  return timestep;
}

std::array<double, 8> time_features(std::int64_t loop, std::int64_t grid) {
  const double dt = 1.0 / static_cast<double>(grid);
  const double t = static_cast<double>(loop) / static_cast<double>(grid);
  const double angle = std::numbers::pi * t;
  return {
      t, dt, t * t, dt * dt, t * dt, std::sin(angle), std::cos(angle) - 1.0, std::sin(2 * angle)};
}

void TimestepContext::append_to(std::vector<Tensor>& list) const {
  if (weight.defined()) list.push_back(weight);
}

TimestepContext TimestepContext::rebuilt(const std::vector<Tensor>& list, std::size_t& next) const {
  TimestepContext context = *this;
  if (weight.defined()) context.weight = list[next++];
  return context;
}

LoopGates TimestepContext::at(std::int64_t loop) const {
  if (form == TimestepForm::kNone) return {};
  const auto features = time_features(loop, grid);
  const auto psi = at::tensor(at::ArrayRef<double>(features), at::kDouble).to(weight.dtype());
  const auto response = at::matmul(weight, psi);
  LoopGates gates;
  if (form == TimestepForm::kLoopGate) {
    gates.loop = widened(response, width);
    return gates;
  }
  std::vector<Tensor> scales;
  auto gate = response;
  if (form == TimestepForm::kAdaln) {
    scales = by_branch(1.0 + response.narrow(2, 0, width));
    gate = response.narrow(2, width, width);
  } else {
    gate = widened(response, width);
  }
  const auto factors = by_branch(1.0 + gate);
  gates.branches.resize(factors.size() / 2);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    gates.branches[i / 2].gate[i % 2] = factors[i];
    if (!scales.empty()) gates.branches[i / 2].scale[i % 2] = scales[i];
  }
  return gates;
}

TimestepContext prepare(const Timestep& timestep, const ModelConfig& config, std::int64_t grid) {
  TimestepContext context{config.timestep, config.d_model, grid, {}};
  for (const auto* weight : {&timestep.loop_gate, &timestep.branch_gate, &timestep.adaln})
    if (*weight) context.weight = (*weight)->value;
  return context;
}

}  // namespace rondo
