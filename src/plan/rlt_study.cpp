// Which runs the tables of the recurrent looped transformer need.
#include "plan/rlt_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace rondo {
namespace {

const std::vector<std::string> kPaperTables = {"validation", "longest", "lengths", "feedback"};
const std::vector<std::string> kAllTasks = {"parity",        "addition", "mod5-flat",
                                            "mod5-brackets", "s5",       "s5-swaps"};

const std::vector<RltScale>& rlt_scales() {
  static const std::vector<RltScale> list = {
      {.name = "smoke",
       .recipe = "recipes/rlt-smoke.toml",
       .summary =
           "every part of the study with tiny models and a handful of steps; the numbers mean "
           "nothing",
       .layers = 2,
       .seeds = {42},
       .tables = kPaperTables,
       .tasks = {},
       .models = {"RLT-1 4+4", "RLT-2/4 4+4", "RLT-0 4+4", "transformer 8"}},
      {.name = "cpu",
       .recipe = "recipes/rlt-cpu.toml",
       .summary = "4 layers of width 128 in place of 8 of 512 (4+4 stands for 2+2, 6+2 for 3+1), "
                  "128 examples a step in place of 512, strings a quarter as long, merge scale 1 "
                  "in place of 0.1 for arithmetic",
       .layers = 4,
       .seeds = {42, 43, 44},
       .tables = kPaperTables,
       .tasks = {"parity", "s5-swaps", "mod5-flat", "addition"},
       .models = {"RLT-1 4+4", "RLT-1 6+2", "RLT-2/4 4+4", "RLT-0 4+4", "transformer 8"},
       .task_keys = {{"parity", {"data.min_length=2", "data.max_length=10", "train.steps=600"}},
                     {"s5-swaps", {"data.min_length=8", "data.max_length=8", "train.steps=1500"}},
                     {"s5", {"data.min_length=8", "data.max_length=8", "train.steps=1500"}},
                     {"mod5-flat", {"data.min_length=3", "data.max_length=9", "train.steps=1500"}},
                     {"mod5-brackets",
                      {"data.min_length=3", "data.max_length=10", "train.steps=1500"}},
                     {"addition", {"data.min_length=1", "data.max_length=3", "train.steps=500"}}},
       .merge_scale = {{"mod5-flat", 1}, {"mod5-brackets", 1}, {"addition", 1}}},
      {.name = "paper",
       .recipe = "recipes/rlt-paper.toml",
       .summary = "the published protocol: width 512, batch 512, 2000 steps (5000 modulo 5), three "
                  "seeds",
       .layers = 8,
       .seeds = {42, 43, 44},
       .tables = {"validation", "longest", "lengths", "feedback", "steps", "alpha", "depth16"},
       .tasks = {},
       .models = {},
       .long_mod5 = true}};
  return list;
}

/// "rlt-1-4+4" for a folder.
std::string folder_of(const std::string& model) {
  std::string name;
  for (const char c : model)
    name += c == ' ' || c == '/' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return name;
}

bool in(const std::vector<std::string>& list, const std::string& word) {
  return list.empty() || std::find(list.begin(), list.end(), word) != list.end();
}

/// Twice the depth is a table of its own, and stays twice as deep.
bool is_deep(const RltModel& model) { return model.encoder + model.decoder == 16; }

/// Of so many layers, those of the encoder; nothing when they cannot be split alike.
std::optional<std::int64_t> encoder_layers(const RltModel& model, std::int64_t layers) {
  const auto depth = model.encoder + model.decoder, share = model.encoder * layers;
  if (share % depth != 0) return std::nullopt;
  return share / depth;
}

/// The model at the scale's depth, or nothing when its split has no counterpart there.
std::optional<Overrides> model_keys(const RltModel& model, const std::string& task,
                                    const RltScale& scale) {
  const auto here = is_deep(model) ? 2 * scale.layers : scale.layers;
  const auto found = encoder_layers(model, here);
  if (!found) return std::nullopt;
  const auto encoder = *found;
  if (model.transformer)
    return Overrides{"model.kind=looped",    "model.prelude_layers=" + std::to_string(encoder),
                     "model.core_layers=0",  "model.coda_layers=0",
                     "model.injection=none", "model.loop_norm=false",
                     "loops.forward=1",      "loops.backward=1"};
  const auto own = scale.merge_scale.find(task);
  const double merge_scale = own == scale.merge_scale.end() ? 0.1 : own->second;
  return Overrides{"model.kind=rlt",
                   fmt::format("model.encoder_layers={}", encoder),
                   fmt::format("model.decoder_layers={}", here - encoder),
                   fmt::format("model.feedback_interval={}", model.interval),
                   fmt::format("model.merge_scale={}", model.merge_scale.value_or(merge_scale)),
                   "model.window=8",
                   "train.bptt_tokens=128"};
}

Overrides task_keys(const std::string& task, const RltScale& scale, bool deep) {
  Overrides set = {"data.task=" + task};
  if (const auto found = scale.task_keys.find(task); found != scale.task_keys.end())
    set.insert(set.end(), found->second.begin(), found->second.end());
  if (task == "addition") {
    set.emplace_back("data.seed=42");
    set.emplace_back("data.test_seed=20260916");
  }
  if (scale.long_mod5 && task.starts_with("mod5")) set.emplace_back("train.steps=5000");
  // As in the paper, as far as its text and its curves tell: docs/rlt.md.
  set.push_back(task == "parity" ? "data.label_at=last" : "data.label_at=mark");
  if (deep) set.emplace_back("train.batch=1024");
  return set;
}

}  // namespace

bool has_split(const std::string& split, std::int64_t layers) {
  return encoder_layers(rlt_model("RLT-1 " + split), layers).has_value();
}

RltModel rlt_model(const std::string& name) {
  RltModel model{.name = name};
  const auto space = name.find(' ');
  const auto kind = name.substr(0, space);
  long encoder = 0, decoder = 0;
  double scale = 0;
  const auto rest = space == std::string::npos ? std::string() : name.substr(space + 1);
  const int read = std::sscanf(rest.c_str(), "%ld+%ld a%lf", &encoder, &decoder, &scale);
  model.encoder = encoder;
  model.decoder = decoder;
  if (read == 3) model.merge_scale = scale;
  model.transformer = kind == "transformer";
  if (kind == "RLT-0") model.interval = 0;
  if (kind == "RLT-2/4") model.interval = 4;
  const bool known = kind == "RLT-0" || kind == "RLT-1" || kind == "RLT-2/4";
  require((model.transformer && read >= 1) || (known && read >= 2),
          "{}: no model of the paper; expected one such as \"RLT-1 4+4\"", one_line(name));
  return model;
}

const RltScale& rlt_scale(const std::string& name) {
  for (const auto& scale : rlt_scales())
    if (scale.name == name) return scale;
  fail("--scale {}: expected smoke, cpu or paper", one_line(name));
}

std::vector<RltRun> rlt_runs(const RltScale& scale, std::span<const std::string> tables,
                             bool all_models) {
  std::vector<RltRun> runs;
  std::set<std::string> known;
  for (const auto& name : tables) {
    const auto& all = rlt_tables();
    const auto table =
        std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
    if (table == all.end()) {
      std::vector<std::string> names;
      for (const auto& each : all) names.push_back(each.name);
      fail("--only {}: expected one of {}", one_line(name), join(names, ", "));
    }
    for (const auto& cell : table->cells) {
      if (!in(scale.tasks, cell.task) || (!all_models && !in(scale.models, cell.model))) continue;
      const auto model = rlt_model(cell.model);
      const auto keys = model_keys(model, cell.task, scale);
      const auto folder = cell.task + "/" + folder_of(cell.model);
      if (!keys || !known.insert(folder).second) continue;
      const bool deep = is_deep(model);
      RltRun run{.task = cell.task,
                 .model = model,
                 .folder = folder,
                 .set = *keys,
                 .seeds = deep ? std::vector<std::int64_t>{42} : scale.seeds};
      for (auto& key : task_keys(cell.task, scale, deep)) run.set.push_back(std::move(key));
      runs.push_back(std::move(run));
    }
  }
  const auto rank = [&](const RltRun& run) {
    return std::find(scale.models.begin(), scale.models.end(), run.model.name);
  };
  std::stable_sort(runs.begin(), runs.end(),
                   [&](const RltRun& a, const RltRun& b) { return rank(a) < rank(b); });
  return runs;
}

std::vector<const RltSeed*> seeds_under_way(const RltResult& result) {
  std::vector<const RltSeed*> seeds;
  for (const auto* list : {&result.seeds, &result.unfinished})
    for (const auto& seed : *list) seeds.push_back(&seed);
  return seeds;
}

std::optional<OverSeeds> measured(std::span<const RltResult> results, const RltCell& cell) {
  std::vector<double> values;
  for (const auto& result : results) {
    if (result.task != cell.task || result.model != cell.model) continue;
    if (cell.step > 0) {
      for (const auto* seed : seeds_under_way(result))
        if (const auto at = seed->course.find(cell.step); at != seed->course.end())
          values.push_back(100 * at->second);
      continue;
    }
    for (const auto& seed : result.seeds) {
      if (cell.length == 0) {
        values.push_back(100 * seed.validation);
      } else if (const auto at = seed.test.find({cell.metric, cell.length});
                 at != seed.test.end()) {
        values.push_back(100 * at->second);
      }
    }
  }
  return over_seeds(values);
}

}  // namespace rondo
