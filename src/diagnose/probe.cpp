// Which probes there are for whom.
#include "diagnose/probe.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "eval/loss.h"

namespace rondo {
namespace {

std::string names_of(const std::set<Probe>& probes) {
  std::vector<std::string> names;
  for (const auto probe : probes) names.emplace_back(name_of(probe));
  return join(names, ", ");
}

/// Whether there is no time beyond the trained loops.
bool grid_ends(const ModelConfig& model) {
  return model.timestep != TimestepForm::kNone && model.timestep_grid == TimestepGrid::kPrefix;
}

}  // namespace

std::set<Probe> parse_probes(const std::string& list) {
  std::set<Probe> probes;
  for (const auto& name : split(list, ',')) {
    const auto at = std::find(kProbeNames.begin(), kProbeNames.end(), name);
    if (at != kProbeNames.end()) {
      probes.insert(static_cast<Probe>(at - kProbeNames.begin()));
      continue;
    }
    const std::vector<std::string> names(kProbeNames.begin(), kProbeNames.end());
    const auto near = nearest(name, names);
    fail("--probes {}: no such probe{}; expected {}", one_line(name),
         near ? ", did you mean " + *near + "?" : "", join(names, ", "));
  }
  return probes;
}

std::set<Probe> probes_for(const ModelConfig& model) {
  if (model.kind == ModelKind::kRlt)
    return {Probe::kAngle, Probe::kUpdate, Probe::kVariance, Probe::kLogitLens};
  std::set<Probe> all;
  for (std::size_t i = 0; i < kProbeNames.size(); ++i) all.insert(static_cast<Probe>(i));
  return all;
}

void check_probes(const std::set<Probe>& probes, const ModelConfig& model) {
  const auto known = probes_for(model);
  for (const auto probe : probes)
    require(known.contains(probe),
            "--probes {}: an RLT runs its core once over depth, so this probe has no meaning for "
            "it; expected {}",
            name_of(probe), names_of(known));
}

void require_loops(const Config& config, std::int64_t loops, const std::string& name) {
  if (config.model.kind == ModelKind::kRlt) return;
  require(config.model.core_layers > 0,
          "{}: has no core layers (model.core_layers = 0), so that nothing loops; probes need a "
          "looped model",
          name);
  require(!is_plain(config) || loops > 1,
          "{}: a plain transformer (loops.forward = 1, no injection, no loop norm) does not loop; "
          "expected a looped model, or --loops 2 or more to loop its core all the same",
          name);
}

void check_grid(const Config& config, std::int64_t loops) {
  require(!grid_ends(config.model) || loops <= config.loops.forward,
          "--loops {}: the timestep grid \"prefix\" ends with the {} loops of training; ask for at "
          "most as many, or give --timestep-grid rescaled",
          loops, config.loops.forward);
}

std::int64_t default_probe_loops(const Config& config) {
  return (grid_ends(config.model) ? 1 : 2) * config.loops.forward;
}

}  // namespace rondo
