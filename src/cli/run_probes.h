// Probing one model: which sequences, which precision, and the diagnosis as it is printed and kept.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/json.h"
#include "cli/model_options.h"
#include "cli/text_choice.h"
#include "diagnose/diagnosis.h"

namespace rondo {

/// What of which model is to be measured.
struct ProbeRequest {
  ModelOptions model;
  std::optional<std::string> probes;     ///< nothing: all that have a meaning
  std::optional<std::string> precision;  ///< auto, fp32 or fp64
  TextRequest text;
  std::int64_t loops = 0, positions = 0, length = 0;  ///< 0 = not given
  std::int64_t interaction_positions = 2048, jacobians = 8, threads = 0;
};

/// A diagnosis and its rows as JSON; `diagnosis.interrupted` says that there are none.
struct ProbedModel {
  Diagnosis diagnosis;
  Json json;
};

/// Opens the model, chooses the sequences, runs the probes. Throws input errors.
ProbedModel run_probes(const ProbeRequest& request);

}  // namespace rondo
