// Benchmarks: all cases in turn within one run, so that a slow spell of the machine hits them
// alike, and each held against the roof that was measured beside it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/recipe.h"
#include "train/bench_cases.h"
#include "train/bench_peer.h"

namespace rondo {

/// One measured number.
struct BenchRow {
  std::string name;  ///< the case: "a44"
  std::string metric;
  double value = 0;
  std::string unit;
  std::optional<double> roof_share{};  ///< of the roof that bounds this case
};

struct BenchOptions {
  Benchmark benchmark = Benchmark::kLm;
  std::vector<std::string> cases;  ///< empty: the benchmark's own
  int rounds = 5;
  int steps = 3;       ///< of each case in a round
  Overrides set;       ///< on every case
  std::string peer;    ///< a command to run in turn with the rounds
  bool memory = true;  ///< also the peak of each case, in a process of its own
};

/// Training steps of the cases of bench_cases.h on random tokens. Metrics per case: step_time_s
/// (median of the rounds' medians) and its minimum, tokens_per_s, flops_per_s with the share of the
/// roof, faults_per_step (minor page faults after the warm-up), other_cores (what other processes
/// took meanwhile: near 0 or the times are not worth much), peak_bytes; with a peer also
/// peer_step_time_s and times_faster (median over the rounds). Stops early, with what there is, on
/// an interrupt. With `memory` it must run before anything else has started threads.
std::vector<BenchRow> bench_steps(const BenchOptions& options);

/// The two roofs, products of a model's shapes by both libraries, and fused operations.
std::vector<BenchRow> bench_roof(const BenchOptions& options);

/// Rows as a table: one line a case, one column a metric.
std::string bench_table(const std::vector<BenchRow>& rows);

}  // namespace rondo
