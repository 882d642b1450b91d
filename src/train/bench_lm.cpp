// `rondo bench lm` and `rondo bench rlt`: training steps of all cases in turn.
#include <algorithm>
#include <map>
#include <memory>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/statistics.h"
#include "tensor/roof.h"
#include "train/bench.h"
#include "train/bench_memory.h"
#include "train/bench_subject.h"

namespace rondo {
namespace {

// A case with all that has been measured of it.
struct Measured {
  BenchCase one;
  std::optional<std::uint64_t> peak;
  std::unique_ptr<BenchSubject> subject;
  std::vector<BenchRound> rounds;
  std::vector<double> roofs;  ///< GFLOP/s, before and after each round
  std::vector<double> peers, ratios;

  template <typename Field>
  [[nodiscard]] std::vector<double> all(Field field) const {
    std::vector<double> values;
    for (const auto& round : rounds) values.push_back(round.*field);
    return values;
  }
};

std::vector<Measured> chosen_cases(const BenchOptions& options) {
  std::vector<Measured> list;
  const auto names = options.cases.empty() ? bench_case_names(options.benchmark) : options.cases;
  for (const auto& name : names) {
    for (const auto& other : list) require(other.one.name != name, "--cases: {} twice", name);
    Measured measured;
    measured.one = find_bench_case(options.benchmark, name, options.set);
    list.push_back(std::move(measured));
  }
  return list;
}

void measure_peak(Measured& measured) {
  measured.peak = peak_in_child([&] {
    BenchSubject subject(measured.one);
    subject.activate();
    subject.warm_up();
  });
}

void measure_round(Measured& measured, RoofSampler& roof, int steps) {
  measured.subject->activate();
  measured.roofs.push_back(roof.sample());
  measured.rounds.push_back(measured.subject->round(steps));
  measured.roofs.push_back(roof.sample());
}

void add_peer(std::vector<Measured>& list, const PeerTimes& times) {
  for (auto& measured : list) {
    // A peer that knows nothing of a case's changes is held against the case without them.
    auto found = times.find(measured.one.name);
    if (found == times.end())
      found = times.find(measured.one.name.substr(0, measured.one.name.find(':')));
    if (found == times.end()) continue;
    measured.peers.push_back(found->second);
    measured.ratios.push_back(found->second / measured.rounds.back().median_s);
  }
}

void add_rows(const Measured& measured, std::vector<BenchRow>& rows) {
  if (measured.rounds.empty()) return;
  const auto& name = measured.one.name;
  const auto fastest = measured.all(&BenchRound::minimum_s);
  const double step = median(measured.all(&BenchRound::median_s));
  const double rate = median(measured.all(&BenchRound::flops_per_s));
  const double share = rate / (median(measured.roofs) * 1e9);
  rows.push_back({name, "step_time_s", step, "s", share});
  rows.push_back({name, "step_time_min_s", *std::min_element(fastest.begin(), fastest.end()), "s"});
  rows.push_back({name, "tokens_per_s", measured.subject->tokens_per_step() / step, "tokens/s"});
  rows.push_back({name, "flops_per_s", rate, "FLOP/s", share});
  rows.push_back({name, "roof_flops_per_s", median(measured.roofs) * 1e9, "FLOP/s"});
  rows.push_back({name, "faults_per_step", median(measured.all(&BenchRound::faults)), "1"});
  rows.push_back({name, "other_cores", median(measured.all(&BenchRound::other_cores)), "1"});
  rows.push_back({name, "step_bytes", median(measured.all(&BenchRound::step_bytes)), "B"});
  if (measured.peak) rows.push_back({name, "peak_bytes", static_cast<double>(*measured.peak), "B"});
  if (measured.peers.empty()) return;
  rows.push_back({name, "peer_step_time_s", median(measured.peers), "s"});
  rows.push_back({name, "times_faster", median(measured.ratios), "1"});
}

}  // namespace

std::vector<BenchRow> bench_steps(const BenchOptions& options) {
  auto list = chosen_cases(options);
  if (options.memory)
    for (auto& measured : list) measure_peak(measured);
  for (auto& measured : list) {
    measured.subject = std::make_unique<BenchSubject>(measured.one);
    measured.subject->activate();
    measured.subject->warm_up();
  }
  RoofSampler roof;
  Progress progress("bench");
  for (int round = 1; round <= options.rounds && interrupt_signal() == 0; ++round) {
    for (auto& measured : list) {
      if (interrupt_signal() != 0) break;
      progress.update(fmt::format("round {} of {}: {}", round, options.rounds, measured.one.name));
      measure_round(measured, roof, options.steps);
    }
    if (!options.peer.empty() && interrupt_signal() == 0) add_peer(list, run_peer(options.peer));
  }
  std::vector<BenchRow> rows;
  for (const auto& measured : list) add_rows(measured, rows);
  return rows;
}

}  // namespace rondo
