// Initial values by role.
#include "nn/init.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"

namespace rondo {
namespace {

double fan_in(const Parameter& parameter) { return static_cast<double>(parameter.shape[1]); }
double fan_out(const Parameter& parameter) { return static_cast<double>(parameter.shape[0]); }

/// Standard deviation of a normal start.
double spread(const Parameter& parameter, const ModelConfig& config) {
  constexpr double kUsual = 0.02;
  const bool hidden = parameter.role == Role::kMatrix || parameter.role == Role::kMergeMatrix ||
                      parameter.role == Role::kResidualOutput;
  if (config.init == Init::kUniform) return parameter.role == Role::kHead ? 1e-3 : 1.0;
  if (config.init == Init::kNormal || !hidden) return kUsual;
  const double in = fan_in(parameter), out = fan_out(parameter);
  const double width = 0.5 / std::sqrt(in) * std::min(1.0, std::sqrt(out / in));
  if (parameter.role != Role::kResidualOutput) return width;
  if (config.residual_divisor > 0) return width / config.residual_divisor;
  const auto layers = config.kind == ModelKind::kRlt
                          ? config.encoder_layers + config.decoder_layers
                          : config.prelude_layers + config.core_layers + config.coda_layers;
  return width / static_cast<double>(layers);
}

void fill_uniform(Tensor& value, double limit, const RandomStream& stream) {
  auto* data = value.data_ptr<float>();
  for (std::int64_t i = 0; i < value.numel(); ++i)
    data[i] =
        static_cast<float>((2.0 * stream.uniform(static_cast<std::uint64_t>(i)) - 1.0) * limit);
}

/// Rows that pass on one half of [state ; input] unchanged.
void fill_pass_on(Tensor& value, bool input) {
  const auto width = value.size(0);
  value.zero_();
  value.narrow(1, input ? width : 0, width).fill_diagonal_(1.0);
}

}  // namespace

void initialise(const std::string& name, Parameter& parameter, const ModelConfig& config,
                std::uint64_t seed) {
  auto value = at::empty(parameter.shape, at::kFloat);
  const RandomStream stream(seed, "init/" + name);
  switch (parameter.role) {
    case Role::kGain:
    case Role::kBias:
    case Role::kInjectScale:
    case Role::kHistoryMatrix:
    case Role::kConditioning:
      value.fill_(parameter.start);
      break;
    case Role::kInjectMatrix:
      fill_pass_on(value, config.injection_init == InjectionInit::kInput);
      break;
    case Role::kMatrix:
    case Role::kMergeMatrix:
    case Role::kResidualOutput:
      if (config.init == Init::kUniform) {
        fill_uniform(value, std::sqrt(3.0 / fan_in(parameter)), stream);
        break;
      }
      [[fallthrough]];
    case Role::kEmbedding:
    case Role::kFirstState:
    case Role::kHead:
      stream.fill_normal({value.data_ptr<float>(), static_cast<std::size_t>(value.numel())});
      value.mul_(spread(parameter, config));
      break;
  }
  parameter.value = value.requires_grad_(true);
}

}  // namespace rondo
