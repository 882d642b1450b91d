// Training several seeds in turn.
#include "train/seeds.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/statistics.h"
#include "record/run_folder.h"
#include "record/state.h"

namespace rondo {
namespace {

Json spread(const std::vector<Json>& finished, const char* key) {
  std::vector<double> values;
  for (const auto& run : finished)
    if (run.contains(key) && run[key].is_number()) values.push_back(run[key].get<double>());
  Json json = {{"mean", Json()}, {"sd", Json()}, {"values", values}};
  if (!values.empty()) json["mean"] = mean(values);
  if (values.size() > 1) json["sd"] = sample_sd(values);
  return json;
}

/// One seed's summary; a failure becomes a summary with the reason.
Json train_one(const Config& config, const TrainOptions& options) {
  try {
    return train(config, options);
  } catch (const Error& error) {
    // Input errors concern all seeds alike, so going on would only repeat them.
    if (error.fault() == Fault::kInput) throw;
    log("{}: {}", options.label, error.what());
    return {{"seed", config.seed}, {"stop_reason", kStopFailed}, {"message", error.what()}};
  }
}

fs::path seed_folder(const TrainOptions& options, std::int64_t seed) {
  return options.out / fmt::format("seed-{}", seed);
}

/// What would stop a later seed is said before the first one trains for hours.
void check_seeds(std::span<const std::int64_t> seeds, const TrainOptions& options) {
  require(!is_run(options.out), "{}: is a run itself; --seeds makes one run per seed below --out",
          options.out.string());
  std::set<std::int64_t> seen;
  for (const auto seed : seeds) {
    require(seed >= 0, "--seeds {}: expected whole numbers that are not negative", seed);
    require(seen.insert(seed).second, "--seeds: {} is given twice", seed);
    const auto out = seed_folder(options, seed);
    require(options.resume || !is_run(out),
            "{}: holds a run already; use --resume to go on with it, or another --out",
            out.string());
  }
}

}  // namespace

SeedRuns train_seeds(const Config& config, std::span<const std::int64_t> seeds,
                     const TrainOptions& options) {
  SeedRuns result;
  Json runs = Json::array();
  std::vector<Json> finished;
  std::int64_t failed = 0;
  check_seeds(seeds, options);
  for (const auto seed : seeds) {
    auto one = config;
    one.seed = static_cast<std::uint64_t>(seed);
    auto its = options;
    its.out = seed_folder(options, seed);
    its.label = fmt::format("seed {}", seed);
    its.resume = options.resume && is_run(its.out);
    auto summary = train_one(one, its);
    summary["path"] = its.out.string();
    const std::string reason = summary["stop_reason"];
    if (reason == kStopFinished) finished.push_back(summary);
    // One that was stopped early is neither finished nor failed.
    if (reason == kStopDiverged || reason == kStopFailed) ++failed;
    runs.push_back(std::move(summary));
    result.dirs.push_back(its.out);
    if (interrupt_signal() != 0) {
      result.interrupted = true;
      break;
    }
  }
  result.failed = failed > 0;
  result.summary = {{"runs", runs}, {"finished", finished.size()}, {"failed", failed}};
  const bool task = config.data.source == DataSource::kTask;
  for (const char* key :
       {"train_loss_nats", "validation_loss_nats", task ? "accuracy" : "bits_per_byte"})
    result.summary[key] = spread(finished, key);
  return result;
}

}  // namespace rondo
