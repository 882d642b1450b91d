// Many runs as one table: runs that differ in nothing but their seed are one group, with mean,
// spread and every value, and the comparison of groups says where it is not a fair one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "record/run.h"

namespace rondo {

/// One number over the seeds of a group.
struct Spread {
  std::vector<double> values = {};  ///< one per run of the group, NaN where there is none
  double mean = kNotRecorded;       ///< over the runs that count
  double sd = kNotRecorded;         ///< sample standard deviation; NaN below two runs
  std::size_t count = 0;            ///< runs in the mean
};

/// Runs that share everything but `seed`.
struct RunGroup {
  std::string name;
  std::vector<std::size_t> runs;   ///< places in RunTable::runs
  std::vector<std::string> seeds;  ///< one per run
  RecordedParameters parameters;
  double flops_per_token_train = kNotRecorded, flops_per_token_forward = kNotRecorded;
  double flops = kNotRecorded, tokens = kNotRecorded;  ///< of a whole training, mean over runs
  double loops = kNotRecorded, backward_loops = kNotRecorded;  ///< T and B of the config
  std::string sampler;
  double physical_depth = kNotRecorded, effective_depth = kNotRecorded;
  Spread train_loss_nats, validation_loss_nats, bits_per_byte, accuracy;
  std::size_t finished = 0, running = 0, interrupted = 0, diverged = 0, failed = 0;
  /// No run has finished, so that the means are over the last values of unfinished ones.
  bool provisional = false;
};

/// Something that a comparison of loops should hold fixed, and whether this one does.
struct Match {
  std::string
      what;  ///< "physical depth", "effective depth in training" or "at inference", "recipe"
  bool equal = false;
  std::string text;  ///< the common value, or which groups have which
};

/// Runs, groups in the order of their first run, and what to know before comparing them.
struct RunTable {
  std::vector<RunRecord> runs;
  std::vector<std::string> names;  ///< one per run: its folder below what all runs share
  std::vector<RunGroup> groups;
  std::vector<Match> matches;  ///< of two groups and more
  std::vector<std::string> warnings;
};

/// Whether a run's numbers are part of its group's means.
bool counts(const RunGroup& group, const RunRecord& run);

/// Groups the runs. A mean is over finished runs; diverged, failed and dead ones are counted and
/// left out. While a group has no finished run, its running and interrupted ones stand in.
RunTable make_run_table(std::vector<RunRecord> runs);

/// One row per group, numbers formatted; spreads as "2.183 ± 0.004".
TextTable to_text(const RunTable& table);

/// `groups[]`, `runs[]` and `warnings[]`, numbers as they are.
Json to_json(const RunTable& table);

/// "2.183 ± 0.004", "2.183" for one run, "–" for none.
std::string spread_text(const Spread& spread);

/// "4", "8 (poisson-lognormal, B 4)"; "–" when unknown.
std::string loops_text(const RunGroup& group);

/// What makes the groups of a table unequal, in sentences: parameters, training FLOPs, tokens,
/// depth, tokenizer, data, validation, machine time; and groups of one seed.
std::vector<std::string> comparison_warnings(const RunTable& table);

/// Physical depth, effective depth in training and at inference (of the losses in the table, and of
/// the sweep), and recipe: all keys that decide a run's numbers but the seed and those depths.
std::vector<Match> comparison_matches(const RunTable& table);

/// The same in sentences: what is equal, then what is not.
std::vector<std::string> matches_text(const std::vector<Match>& matches);

/// Names for runs: the folders below what all of them share.
std::vector<std::string> run_names(std::span<const RunRecord> runs);

/// A name for runs of these names and seeds: what is left without the seed ("looped" for
/// "looped-42" and "looped-43", "looped/seed-1" and "looped/seed-2"). Empty when nothing is left.
std::string group_name(std::span<const std::string> names, std::span<const std::string> seeds);

}  // namespace rondo
