// Held-out loss in one pass over the data.
#include "eval/loss.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/text.h"

namespace rondo {
namespace {

// A pass holds logits of at most this many tokens × vocabulary (16 MiB), and of at most this many
// tokens, beyond which larger products run no faster.
constexpr std::int64_t kMaxLogits = std::int64_t{1} << 22, kMaxTokens = 4096;
// An RLT multiplies as many rows at once as there are sequences, so it takes more of them.
constexpr std::int64_t kMaxRecurrentTokens = 32768;

constexpr std::uint64_t kStateSeed = 0;

/// Sums over sequences, for mean and spread.
struct Sums {
  double nats = 0, sequences = 0, means = 0, squares = 0;
};

/// Adds the loss of every row of a batch.
void add_rows(Sums& sums, const Tensor& losses_N, const Tensor& targets_N, const Batch& batch) {
  const auto counted = targets_N.ne(kNoTarget).view({batch.rows, batch.length});
  const auto losses = losses_N.to(at::kDouble).view({batch.rows, batch.length});
  const auto row_nats = losses.sum(1), row_tokens = counted.sum(1).to(at::kDouble);
  const auto means = row_nats / row_tokens.clamp_min(1.0);
  sums.nats += row_nats.sum().item<double>();
  sums.means += means.sum().item<double>();
  sums.squares += means.square().sum().item<double>();
  sums.sequences += static_cast<double>(batch.rows);
}

LossAt finish(std::int64_t loops, const Sums& sums, std::int64_t tokens, std::int64_t bytes) {
  LossAt result{.loops = loops, .tokens = tokens};
  result.loss_nats = sums.nats / static_cast<double>(tokens);
  result.bits_per_byte = sums.nats / std::numbers::ln2 / static_cast<double>(bytes);
  const double n = sums.sequences;
  const double variance = n > 1 ? (sums.squares - sums.means * sums.means / n) / (n - 1) : 0.0;
  result.stderr_nats = std::sqrt(std::max(0.0, variance) / n);
  return result;
}

/// The depths of a sweep that this model can show and that are worth their cost.
std::vector<std::int64_t> sweep_of(const Config& config) {
  const auto trained = config.loops.forward;
  auto loops = depth_sweep_loops(trained);
  if (config.model.timestep == TimestepForm::kNone) return loops;
  if (config.model.timestep_grid == TimestepGrid::kPrefix) {
    std::erase_if(loops, [&](std::int64_t r) { return r > trained; });
    return loops;
  }
  // Every depth is a pass of its own here, so few have to do: powers of two, and T, 2T and 4T.
  std::erase_if(loops, [&](std::int64_t r) {
    return !std::has_single_bit(static_cast<std::uint64_t>(r)) && r != trained &&
           r != 2 * trained && r != 4 * trained;
  });
  return loops;
}

}  // namespace

bool is_plain(const Config& config) {
  return config.loops.forward == 1 && config.loops.sampler == Sampler::kFixed &&
         config.model.injection == Injection::kNone && !config.model.loop_norm;
}

std::vector<std::int64_t> default_loops(const Config& config) {
  if (config.model.kind == ModelKind::kRlt) return {1};
  if (is_plain(config) || config.model.core_layers == 0) return {config.loops.forward};
  return sweep_of(config);
}

void refuse_loops_of_rlt(const Config& config, bool given) {
  require(config.model.kind != ModelKind::kRlt || !given,
          "--loops: an RLT has no loops to choose; leave it out (--feedback-interval changes how "
          "often it feeds back)");
}

void choose_timestep_grid(StoredModel& stored, const std::string& grid) {
  for (const auto choice : {TimestepGrid::kRescaled, TimestepGrid::kPrefix}) {
    if (grid != word(choice)) continue;
    set_timestep_grid(stored.model, choice, "--timestep-grid");
    stored.config.model.timestep_grid = choice;
    return;
  }
  fail("--timestep-grid {}: expected rescaled or prefix", one_line(grid));
}

void check_loops(std::int64_t loops) {
  const double count = static_cast<double>(loops);
  require(count >= kLoops.low && count <= kLoops.high, "--loops {}: expected {} to {}", loops,
          kLoops.low, kLoops.high);
}

LoopedInput make_input(const Batch& batch) {
  LoopedInput input{
      .tokens_BT = token_tensor(batch.inputs, batch.rows), .documents_BT = {}, .sample_keys = {}};
  if (!batch.documents.empty()) input.documents_BT = token_tensor(batch.documents, batch.rows);
  return input;
}

Tensor make_targets(const Batch& batch) { return token_tensor(batch.targets, 1).flatten(); }

std::vector<LossAt> evaluate_loss(const Model& model, const ValidationSet& data,
                                  std::span<const std::int64_t> loops) {
  const NoGrad guard;
  const auto& config = config_of(model);
  const auto most = config.kind == ModelKind::kRlt ? kMaxRecurrentTokens : kMaxTokens;
  const auto rows = std::max<std::int64_t>(
      1, std::min(kMaxLogits / (data.length() * config.vocab), most / data.length()));
  std::vector<Sums> sums(loops.size());
  std::int64_t tokens = 0, bytes = 0;
  for (std::int64_t first = 0; first < data.windows(); first += rows) {
    if (interrupt_signal() != 0) return {};
    const auto batch = data.batch(first, std::min(rows, data.windows() - first));
    auto input = make_input(batch);
    input.state_seed = kStateSeed;
    for (std::int64_t r = 0; r < batch.rows; ++r)
      input.sample_keys.push_back(kEvaluationKeys + static_cast<std::uint64_t>(first + r));
    const auto targets_N = make_targets(batch);
    const ModelPass pass(model, input);
    pass.run_each(loops, [&](std::int64_t loop, const Tensor& state) {
      const auto at = std::find(loops.begin(), loops.end(), loop);
      add_rows(sums[static_cast<std::size_t>(at - loops.begin())],
               cross_entropy(pass.logits(state).flatten(0, 1), targets_N), targets_N, batch);
    });
    tokens += batch.predicted;
    bytes += batch.bytes;
  }
  std::vector<LossAt> results;
  for (std::size_t i = 0; i < loops.size(); ++i)
    results.push_back(finish(loops[i], sums[i], tokens, bytes));
  return results;
}

std::vector<std::int64_t> depth_sweep_loops(std::int64_t trained_loops) {
  constexpr std::int64_t kMost = 32;
  const auto last = 4 * trained_loops;
  std::vector<std::int64_t> loops;
  if (last <= kMost) {
    for (std::int64_t r = 1; r <= last; ++r) loops.push_back(r);
    return loops;
  }
  for (std::int64_t i = 0; i < kMost; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(kMost - 1);
    loops.push_back(std::llround(std::pow(static_cast<double>(last), share)));
  }
  loops.insert(loops.end(), {trained_loops, 2 * trained_loops});
  std::sort(loops.begin(), loops.end());
  loops.erase(std::unique(loops.begin(), loops.end()), loops.end());
  return loops;
}

}  // namespace rondo
