// The published training runs of the recurrent looped transformer on parity: validated every 100
// steps on 768 strings, three initialisations of each model of eight layers. From the authors'
// assets/experiments-depth8/validation.csv (a copy of yifanzhang-pro/recurrent-looped-tranformer,
// Apache-2.0), a snapshot: most curves end before step 2000.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/over_seeds.h"

namespace rondo {

/// Layers of the models.
inline constexpr std::int64_t kRltPublishedLayers = 8;

/// Accuracy (a share) by training step.
using RltCourse = std::map<std::int64_t, double>;

/// First step with at least 99 % right.
std::optional<std::int64_t> solved_by(const RltCourse& course);

/// One of the runs.
struct RltPublishedRun {
  std::string model;
  std::int64_t seed = 0;
  RltCourse course;
};
const std::vector<RltPublishedRun>& rlt_published_runs();

/// The runs of a model; none for a model without.
std::vector<RltPublishedRun> rlt_published_runs(const std::string& model);

/// In per cent, at a step which all three seeds of the model reach.
std::optional<OverSeeds> rlt_published_at(const std::string& model, std::int64_t step);

/// When the seeds of a model had learned parity: "400 / > 700 / 500", the second of which had not
/// by step 700, where its curve ends; "" for a model without runs.
std::string rlt_published_solved(const std::string& model);

/// Step of the lowest validation loss of each seed over the full 2000 steps (the authors'
/// matched-summary.csv); "" where none is given.
std::string rlt_published_selected(const std::string& model);

}  // namespace rondo
