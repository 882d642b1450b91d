// The probes by name.
#pragma once

#include <array>
#include <set>
#include <string>
#include <string_view>

#include "config/config.h"

namespace rondo {

enum class Probe {
  kAngle,
  kUpdate,
  kVariance,
  kInteraction,
  kResponse,
  kGradientFlow,
  kSpectralRadius,
  kLogitLens
};

/// Their names, in the order of the enumerators and of all output.
inline constexpr std::array<std::string_view, 8> kProbeNames = {
    "angle",    "update",        "variance",        "interaction",
    "response", "gradient_flow", "spectral_radius", "logit_lens"};

inline std::string_view name_of(Probe probe) {
  return kProbeNames[static_cast<std::size_t>(probe)];
}

/// "angle,update" as a set. Throws an input error, with the nearest name, for one that is none.
std::set<Probe> parse_probes(const std::string& list);

/// What has a meaning for this kind of model: all of them for a loop over depth; for an RLT, whose
/// core takes e to s once, angle, update, variance and logit_lens.
std::set<Probe> probes_for(const ModelConfig& model);

/// Throws an input error for probes that have no meaning for this kind of model.
void check_probes(const std::set<Probe>& probes, const ModelConfig& model);

/// Throws an input error for a model whose core does not loop: one without core layers, or a plain
/// transformer unless it is to run `loops` > 1 of them. `name` is that of the model.
void require_loops(const Config& config, std::int64_t loops, const std::string& name);

/// Throws an input error for more loops than a timestep grid that ends with the trained ones has.
void check_grid(const Config& config, std::int64_t loops);

/// The loops that are looked at unless told otherwise: twice the trained ones, or those where a
/// timestep grid ends with them.
std::int64_t default_probe_loops(const Config& config);

}  // namespace rondo
