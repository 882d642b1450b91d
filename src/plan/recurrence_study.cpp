// Models and scales of the study of conditioning, and means over its seeds.
#include "plan/recurrence_study.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace rondo {
namespace {

/// A form's name and the keys that make it.
struct ConditioningForm {
  const char* name;
  Overrides set;
};

RecurrenceModel model_of(const std::string& layout, std::int64_t loops,
                         const ConditioningForm& form) {
  std::string word = form.name;
  std::replace(word.begin(), word.end(), ' ', '-');
  RecurrenceModel model{.layout = layout,
                        .form = form.name,
                        .folder = layout + "/" + word,
                        .loops = loops,
                        .set = {}};
  model.set = {"model.layout=" + layout};
  model.set.insert(model.set.end(), form.set.begin(), form.set.end());
  return model;
}

ConditioningForm dense_history(const char* name, int window) {
  return {name, {"model.history=dense", fmt::format("model.history_window={}", window)}};
}

RecurrenceTable table_of(const char* name, const char* title, const char* note,
                         const std::string& layout, std::int64_t loops,
                         const std::vector<ConditioningForm>& forms) {
  RecurrenceTable table{.name = name, .title = title, .note = note, .models = {}};
  for (const auto& form : forms) table.models.push_back(model_of(layout, loops, form));
  return table;
}

const std::vector<RecurrenceScale>& recurrence_scales() {
  static const std::vector<RecurrenceScale> list = {
      {.name = "smoke",
       .recipe = "recipes/recurrence-smoke.toml",
       .summary = "every part of the study with tiny models and a handful of steps; the numbers "
                  "mean nothing",
       .seeds = {42},
       .positions = 64,
       .interaction_positions = 32,
       .jacobians = 1},
      {.name = "cpu",
       .recipe = "recipes/recurrence-cpu.toml",
       .summary = "twelve layers deep and 128 wide on textbooks by bytes, in place of 28 layers, "
                  "1024 wide, on web text; losses in place of benchmark scores",
       .seeds = {42, 43},
       .positions = 8192,
       .interaction_positions = 2048,
       .jacobians = 4}};
  return list;
}

}  // namespace

const std::vector<RecurrenceTable>& recurrence_tables() {
  static const std::vector<RecurrenceTable> tables = {
      table_of("conditioning", "Forms of conditioning, four layers run three times",
               "Three loops have only one earlier state to look back at: windows of 2 and 4 are "
               "that of 1, with weights that stay at 0, and their numbers are the same.",
               "4x3", 3,
               {{"none", {}},
                {"channel state", {"model.injection=channel"}},
                {"dense state", {"model.injection=dense"}},
                dense_history("dense history 1", 1),
                dense_history("dense history 2", 2),
                dense_history("dense history 4", 4),
                {"branch gates", {"model.timestep=branch-gate"}},
                {"adaLN", {"model.timestep=adaln"}}}),
      table_of("windows", "Windows of history, two layers run six times", "", "2x6", 6,
               {{"none", {}},
                {"dense state", {"model.injection=dense"}},
                dense_history("dense history 1", 1),
                dense_history("dense history 2", 2),
                dense_history("dense history 4", 4)})};
  return tables;
}

const RecurrenceScale& recurrence_scale(const std::string& name) {
  require(name != "paper",
          "reproduce recurrence --scale paper: this version has no benchmarks to score and no GPU "
          "to train on; expected smoke or cpu");
  for (const auto& scale : recurrence_scales())
    if (scale.name == name) return scale;
  fail("--scale {}: expected smoke or cpu", one_line(name));
}

namespace {

/// `value` of every seed, where it is a number.
template <typename Value>
std::optional<OverSeeds> of_seeds(const RecurrenceResult& result, Value&& value) {
  std::vector<double> values;
  for (const auto& seed : result.seeds) values.push_back(value(seed));
  return over_seeds(values);
}

template <typename Key>
double value_of(const std::map<Key, double>& values, const Key& key) {
  const auto at = values.find(key);
  return at == values.end() ? std::nan("") : at->second;
}

}  // namespace

std::optional<OverSeeds> loss_at(const RecurrenceResult& result, std::int64_t loops) {
  return of_seeds(result, [&](const auto& seed) { return value_of(seed.loss_nats, loops); });
}

std::optional<OverSeeds> bits_at(const RecurrenceResult& result, std::int64_t loops) {
  return of_seeds(result, [&](const auto& seed) { return value_of(seed.bits_per_byte, loops); });
}

std::optional<OverSeeds> probe_at(const RecurrenceResult& result, const ProbeKey& key) {
  return of_seeds(result, [&](const auto& seed) { return value_of(seed.probes, key); });
}

std::optional<OverSeeds> rise_of(const RecurrenceResult& result) {
  const auto trained = result.model.loops;
  return of_seeds(result, [&](const auto& seed) {
    return value_of(seed.loss_nats, kRecurrenceReach * trained) - value_of(seed.loss_nats, trained);
  });
}

}  // namespace rondo
