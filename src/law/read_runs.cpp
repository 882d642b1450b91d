// From a run's two small files to a row of cells.
#include "law/read_runs.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <set>
#include <thread>
#include <tuple>
#include <variant>

#include "base/error.h"
#include "base/machine.h"
#include "base/text.h"
#include "config/recipe.h"
#include "cost/loops.h"
#include "record/run.h"
#include "record/run_folder.h"
#include "record/state.h"
#include "record/utf8.h"

namespace rondo {
namespace {

/// The cells of a run, or why it has none.
struct Unusable {
  std::string reason;
};
using Outcome = std::variant<Unusable, std::vector<std::string>>;

std::vector<std::string> run_columns() {
  return {"n_once",  "n_rec",     "loops",         "backward_loops", "tokens", "loss",
          "d_model", "tokenizer", "bits_per_byte", "seed",           "run"};
}

/// expected_loops with a memory: runs of one sweep share few laws of the loop count, and a
/// Poisson-log-normal one costs as much as reading several runs.
class MeanLoops {
 public:
  LoopCount operator()(const LoopsConfig& loops, std::int64_t steps) {
    if (loops.sampler == Sampler::kSchedule) return expected_loops(loops, steps);
    const auto key = std::tuple(loops.forward, loops.backward, loops.sampler, loops.max);
    const auto at = known_.find(key);
    return at != known_.end() ? at->second
                              : known_.emplace(key, expected_loops(loops, steps)).first->second;
  }

 private:
  std::map<std::tuple<std::int64_t, std::int64_t, Sampler, std::int64_t>, LoopCount> known_;
};

/// State of a run by its summary; the end of the metrics is read only when there is none.
RunState state_of(const fs::path& dir, bool has_summary, const RunSummary& summary) {
  if (FileLock::is_held(dir / kLockFile)) return RunState::kRunning;
  return has_summary ? state_after(summary.stop_reason) : run_status(dir).state;
}

/// A number as a cell that reads back equal; nothing for one that is not recorded.
std::string cell(double number) { return std::isnan(number) ? "" : fmt::format("{}", number); }

Outcome read_one(const fs::path& dir, MeanLoops& mean_loops) {
  const fs::path file = dir / kSummaryFile;
  std::error_code ignored;
  const bool has_summary = fs::exists(file, ignored);
  RunSummary summary;
  if (has_summary) parse_summary(read_file(file), kSummaryFile, summary);
  const RunState state = state_of(dir, has_summary, summary);
  if (state != RunState::kFinished) return Unusable{std::string(word(state))};
  if (!has_summary) return Unusable{fmt::format("no {}", kSummaryFile)};
  if (!std::isfinite(summary.validation_loss_nats)) return Unusable{"no validation_loss_nats"};
  const Config config = parse_recipe(read_file(dir / kConfigFile), kConfigFile);
  const LoopCount loops = mean_loops(config.loops, config.train.steps);
  return std::vector<std::string>{cell(summary.parameters.once),
                                  cell(summary.parameters.recurrent),
                                  cell(loops.forward),
                                  cell(loops.backward),
                                  cell(summary.tokens),
                                  cell(summary.validation_loss_nats),
                                  std::to_string(config.model.d_model),
                                  with_valid_utf8(config.data.tokenizer),
                                  cell(summary.bits_per_byte),
                                  summary.seed.empty() ? std::to_string(config.seed) : summary.seed,
                                  with_valid_utf8(dir.string())};
}

Outcome try_one(const fs::path& dir, MeanLoops& mean_loops) {
  try {
    return read_one(dir, mean_loops);
  } catch (const Error& error) {
    return Unusable{with_valid_utf8(error.what())};
  }
}

std::vector<Outcome> read_all(std::span<const fs::path> runs) {
  std::vector<Outcome> outcomes(runs.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    MeanLoops mean_loops;
    for (std::size_t i = next++; i < runs.size(); i = next++)
      outcomes[i] = try_one(runs[i], mean_loops);
  };
  // A thread is not worth its start for a handful of runs.
  const std::size_t threads =
      std::min(static_cast<std::size_t>(available_cores()), 1 + runs.size() / 16);
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  others.clear();
  return outcomes;
}

}  // namespace

RunRows read_runs(std::span<const fs::path> runs) {
  RunRows out;
  out.table.names = run_columns();
  auto outcomes = read_all(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string name = with_valid_utf8(runs[i].string());
    if (const auto* unusable = std::get_if<Unusable>(&outcomes[i])) {
      out.unusable.push_back(fmt::format("{} ({})", name, unusable->reason));
      continue;
    }
    out.table.origins.push_back({out.table.files.size(), 0});
    out.table.files.push_back(name);
    out.table.cells.push_back(std::move(std::get<std::vector<std::string>>(outcomes[i])));
  }
  return out;
}

std::string tokenizer_note(const FitTable& table) {
  const Column* column = table.find("tokenizer");
  if (column == nullptr || !column->is_words()) return {};
  std::set<std::string> names;
  for (std::size_t row = 0; row < table.rows(); ++row)
    if (table.origins[row].line == 0) names.insert(column->words[row]);
  if (names.size() < 2) return {};
  return fmt::format(
      "the runs have {} tokenizers ({}): losses in nats per token do not compare between them; fit "
      "runs of one tokenizer",
      names.size(), one_line(join(std::vector(names.begin(), names.end()), ", ")));
}

}  // namespace rondo
