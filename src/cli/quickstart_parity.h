// The quickstart's second part: which model holds a state over lengths that it was not trained on.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/text.h"
#include "config/config.h"
#include "record/run.h"

namespace rondo {

/// A model that learns parity.
struct ParityModel {
  std::string name;
  Config config;
  std::string why;
};

/// The recurrent looped transformer and the transformer that it is compared with; `fast` for
/// smaller steps and fewer examples.
std::vector<ParityModel> parity_models(bool fast);

/// Accuracy by length, a row per run.
TextTable parity_table(std::span<const RunRecord> runs);

}  // namespace rondo
