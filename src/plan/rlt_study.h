// The experiments of the recurrent looped transformer (arXiv 2610.07591) as data: its models and
// tasks, the numbers of its tables, its claims with the rules that they are judged by, and what of
// it is run at which scale. Nothing here trains.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/recipe.h"
#include "plan/claims.h"
#include "plan/over_seeds.h"
#include "plan/rlt_published.h"

namespace rondo {

/// A model of the paper, by layers of the paper's depth.
struct RltModel {
  std::string name;          ///< "RLT-1 4+4", "RLT-2/4 5+3", "RLT-0 8+0", "transformer 8"
  std::int64_t encoder = 0;  ///< all layers of a transformer
  std::int64_t decoder = 0;
  std::int64_t interval = 1;  ///< between feedbacks
  bool transformer = false;
  std::optional<double> merge_scale = {};  ///< nothing = the task's at the scale
};

/// The model of that name. Throws an input error for an unknown one.
RltModel rlt_model(const std::string& name);

/// A number of the paper, in per cent.
struct RltCell {
  std::string task, model;
  std::int64_t length = 0;  ///< of the test examples; 0 = validation
  double mean = 0;
  std::optional<double> sd = {};
  std::string metric = "accuracy";
  std::int64_t step = 0;  ///< of a validation; 0 = after the last
};

/// A table of the paper.
struct RltTable {
  std::string name;   ///< what --only takes
  std::string title;  ///< in words
  std::vector<RltCell> cells;
};
const std::vector<RltTable>& rlt_tables();

/// How much is run.
struct RltScale {
  std::string name;
  std::string recipe;       ///< below recipes/
  std::string summary;      ///< for people
  std::int64_t layers = 8;  ///< in place of the paper's 8 (or 16); splits keep their shares
  std::vector<std::int64_t> seeds;
  std::vector<std::string> tables;  ///< run unless --only chooses
  std::vector<std::string> tasks;   ///< empty = all
  std::vector<std::string> models;  ///< run unless --only chooses; empty = all
  bool long_mod5 = false;           ///< 5000 steps instead of 2000 for arithmetic modulo 5
  std::map<std::string, Overrides> task_keys = {};  ///< lengths other than the paper's
  std::map<std::string, double> merge_scale = {};   ///< by task, other than the paper's 0.1
};
/// smoke, cpu or paper. Throws an input error for another name.
const RltScale& rlt_scale(const std::string& name);

/// One model on one task, trained once per seed.
struct RltRun {
  std::string task;
  RltModel model;
  std::string folder;  ///< "parity/rlt-1-4+4"
  Overrides set;       ///< over the scale's recipe
  std::vector<std::int64_t> seeds;
};

/// Whether a split of the paper's 8 layers, "6+2", has a counterpart with so many.
bool has_split(const std::string& split, std::int64_t layers);

/// The runs that the tables need at a scale, each once: the scale's models in their order, or with
/// `all_models` those of the tables. Cells of models that the scale's depth cannot split alike need
/// none. Throws an input error for a table of no such name.
std::vector<RltRun> rlt_runs(const RltScale& scale, std::span<const std::string> tables,
                             bool all_models = false);

/// What one seed of a run measured; shares, not per cent.
struct RltSeed {
  std::string seed;
  double validation = 0;      ///< accuracy after the last step
  RltCourse course = {};      ///< and after earlier ones
  std::int64_t selected = 0;  ///< step of the lowest validation loss
  std::map<std::pair<std::string, std::int64_t>, double> test;  ///< by metric and length
};

/// What the seeds of a run measured. Lengths are the paper's throughout; `lengths` says at which
/// length here each was measured.
struct RltResult {
  std::string task, model;
  std::vector<RltSeed> seeds;  ///< that ran to the end
  std::size_t failed = 0;      ///< seeds that diverged or failed
  /// Of the tests: what a guess gets, and the most frequent answer.
  std::map<std::pair<std::string, std::int64_t>, std::pair<double, double>> rates = {};
  std::map<std::int64_t, std::int64_t> lengths = {};
  std::vector<RltSeed> unfinished = {};  ///< seeds of which only the course so far is known
};

/// All seeds whose course is known, those that ran to the end first.
std::vector<const RltSeed*> seeds_under_way(const RltResult& result);

/// What a cell speaks of, in per cent; nothing when it has not been measured.
std::optional<OverSeeds> measured(std::span<const RltResult> results, const RltCell& cell);

/// Judges the claims, of the splits that a depth of `layers` has ("4+4" and "6+2" of the paper's 8
/// are 2+2 and 3+1 of 4; "5+3" has no counterpart there).
std::vector<Judgement> judge_rlt(std::span<const RltResult> results, std::int64_t layers);

}  // namespace rondo
