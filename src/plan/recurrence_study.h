// The study of conditioning the recurrence (after arXiv 2609.36636, part C) as data: its models,
// its scales, what is expected of them and by which rule. Nothing here trains.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/recipe.h"
#include "plan/claims.h"
#include "plan/over_seeds.h"

namespace rondo {

/// One stack of layers, looped, with one form of conditioning.
struct RecurrenceModel {
  std::string layout;      ///< "4x3": BaseLoop of four layers, run three times
  std::string form;        ///< "none", "dense state", "dense history 2" …
  std::string folder;      ///< "4x3/dense-state"
  std::int64_t loops = 0;  ///< K, trained
  Overrides set;           ///< over the scale's recipe
};

/// Models that are compared with one another.
struct RecurrenceTable {
  std::string name;   ///< what --only takes
  std::string title;  ///< in words
  std::string note;   ///< what a reader must know of it; may be empty
  std::vector<RecurrenceModel> models;
};
/// conditioning: the forms at 4 x 3. windows: history at 2 x 6, where there are enough loops for
/// windows to differ.
const std::vector<RecurrenceTable>& recurrence_tables();

/// How much is run.
struct RecurrenceScale {
  std::string name;
  std::string recipe;   ///< below recipes/
  std::string summary;  ///< for people
  std::vector<std::int64_t> seeds;
  std::int64_t positions = 0, interaction_positions = 0, jacobians = 0;  ///< of the probes
};
/// smoke or cpu. Throws an input error for another name.
const RecurrenceScale& recurrence_scale(const std::string& name);

/// How far the sweep and the probes go: r up to so many times K.
inline constexpr std::int64_t kRecurrenceReach = 3;

/// A value of a probe; -1 where loop or lag mean nothing.
struct ProbeKey {
  std::string probe, site;
  std::int64_t loop = -1, lag = -1;
  auto operator<=>(const ProbeKey&) const = default;
};

/// What one seed of a model measured.
struct RecurrenceSeed {
  std::string seed;
  std::map<std::int64_t, double> loss_nats, bits_per_byte;  ///< held out, after r loops
  std::map<ProbeKey, double> probes;                        ///< of a pass of 3 K loops
};

/// What the seeds of a model measured.
struct RecurrenceResult {
  RecurrenceModel model;
  double parameters = 0, flops_per_token = 0;  ///< of training
  std::vector<RecurrenceSeed> seeds;
  std::size_t failed = 0;  ///< seeds that diverged or failed
};

std::optional<OverSeeds> loss_at(const RecurrenceResult& result, std::int64_t loops);
std::optional<OverSeeds> bits_at(const RecurrenceResult& result, std::int64_t loops);
std::optional<OverSeeds> probe_at(const RecurrenceResult& result, const ProbeKey& key);
/// Rise of the loss from K loops to three times as many, in nats.
std::optional<OverSeeds> rise_of(const RecurrenceResult& result);

/// What was expected, judged.
std::vector<Judgement> judge_recurrence(std::span<const RecurrenceResult> results);

}  // namespace rondo
