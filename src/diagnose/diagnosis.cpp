// Running the probes over the sequences and writing their values down.
#include "diagnose/diagnosis.h"

#include <cmath>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "diagnose/gradient_flow.h"
#include "diagnose/interaction.h"
#include "diagnose/logit_lens.h"
#include "diagnose/spectral_radius.h"
#include "diagnose/trajectory.h"

namespace rondo {
namespace {

/// Calls add(sequence) for each; false when an interrupt is wished.
template <typename Add>
bool over_all(const ProbeSequences& sequences, const DiagnosisOptions& options,
              const std::string& what, const Add& add) {
  for (std::int64_t n = 0; n < sequences.count; ++n) {
    if (interrupt_signal() != 0) return false;
    if (options.progress)
      options.progress(fmt::format("{}: sequence {} of {}", what, n + 1, sequences.count));
    add(sequences.get(n));
  }
  return true;
}

class Writer {
 public:
  explicit Writer(std::vector<ProbeRow>& rows) : rows_(rows) {}

  /// values[0] is that of loop `first`.
  void by_loop(Probe probe, const std::string& site, const std::vector<double>& values,
               std::int64_t first) {
    for (std::size_t i = 0; i < values.size(); ++i)
      rows_.push_back({.probe = probe,
                       .site = site,
                       .loop = first + static_cast<std::int64_t>(i),
                       .value = values[i]});
  }

  void by_block(Probe probe, const Occurrences& occurrences, const std::vector<double>& values,
                std::size_t first = 0) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto [block, loop] = occurrences[first + i];
      rows_.push_back({.probe = probe, .site = block, .loop = loop_of(loop), .value = values[i]});
    }
  }

  static std::optional<std::int64_t> loop_of(std::int64_t loop) {
    return loop > 0 ? std::optional(loop) : std::nullopt;
  }

 private:
  std::vector<ProbeRow>& rows_;
};

void write_path(const Path& path, const Occurrences* occurrences, const DiagnosisOptions& options,
                std::vector<ProbeRow>& rows) {
  Writer writer(rows);
  if (options.probes.contains(Probe::kAngle)) {
    if (occurrences != nullptr) writer.by_block(Probe::kAngle, *occurrences, path.block_angle);
    writer.by_loop(Probe::kAngle, "loop", path.loop_angle, 1);
  }
  if (options.probes.contains(Probe::kUpdate)) {
    if (occurrences != nullptr) writer.by_block(Probe::kUpdate, *occurrences, path.block_update);
    writer.by_loop(Probe::kUpdate, "loop", path.loop_update, 1);
  }
  if (!options.probes.contains(Probe::kVariance)) return;
  writer.by_loop(Probe::kVariance, "state", path.variance, 0);
  writer.by_loop(Probe::kVariance, "state_normalised",
                 normalised(path.variance, options.trained_loops), 0);
  writer.by_loop(Probe::kVariance, "gain_inject", path.inject_gain, 1);
  writer.by_loop(Probe::kVariance, "gain_core", path.core_gain, 1);
  writer.by_loop(Probe::kVariance, "gain_mix", path.mix_gain, 1);
}

void write_lens(const LogitLens& lens, const std::string& suffix, std::vector<ProbeRow>& rows) {
  std::vector<double> losses, agreements;
  for (const auto& row : lens.rows()) {
    losses.push_back(row.loss_nats);
    agreements.push_back(row.agreement);
  }
  Writer writer(rows);
  writer.by_loop(Probe::kLogitLens, "loss_nats" + suffix, losses, 0);
  writer.by_loop(Probe::kLogitLens, "agreement" + suffix, agreements, 0);
}

bool needs_path(const std::set<Probe>& probes) {
  return probes.contains(Probe::kAngle) || probes.contains(Probe::kUpdate) ||
         probes.contains(Probe::kVariance);
}

/// Path and lens share one pass over every sequence.
bool run_passes(const LoopedLm& model, const ProbeSequences& sequences,
                const DiagnosisOptions& options, Diagnosis& result) {
  const NoGrad guard;
  const bool path = needs_path(options.probes), lens = options.probes.contains(Probe::kLogitLens);
  if (!path && !lens) return true;
  Trajectory trajectory(model.config, options.loops);
  LogitLens read(options.loops + 1, model.config.vocab),
      bare(options.loops + 1, model.config.vocab);
  const bool coda = model.config.coda_layers > 0;
  const auto add = [&](const ProbeSequence& sequence) {
    BlockObserver observe;
    if (path) observe = [&](const BlockRun& run) { trajectory.add_block(run); };
    const LoopedPass pass(model, sequence.input, observe);
    const Head head = [&](const Tensor& x) { return pass.head(x); };
    pass.run({.loops = options.loops}, [&](std::int64_t loop, const Tensor& state) {
      if (path) trajectory.add_state(loop, state);
      // The coda of the last state is one of the blocks.
      const auto out = loop == options.loops && coda ? pass.coda(state) : Tensor();
      if (!lens) return;
      read.add(loop, out.defined() ? pass.final_norm(out) : pass.read_out(state), head,
               sequence.targets_S);
      if (coda) bare.add(loop, pass.final_norm(state), head, sequence.targets_S);
    });
    if (path) trajectory.end_sequence(sequence.positions());
    if (lens) read.end_sequence(sequence.targets_S);
    if (lens && coda) bare.end_sequence(sequence.targets_S);
  };
  if (!over_all(sequences, options, "states", add)) return false;
  const Occurrences occurrences(model.config, options.loops);
  if (path) write_path(trajectory.path(), &occurrences, options, result.rows);
  if (lens) write_lens(read, "", result.rows);
  if (lens && coda) write_lens(bare, "_without_coda", result.rows);
  return true;
}

/// e and s are the states before and after the one loop.
bool run_passes(const Rlt& model, const ProbeSequences& sequences, const DiagnosisOptions& options,
                Diagnosis& result) {
  const NoGrad guard;
  auto no_blocks = model.config;
  no_blocks.prelude_layers = no_blocks.core_layers = no_blocks.coda_layers = 0;
  Trajectory trajectory(no_blocks, 1);
  LogitLens lens(2, model.config.vocab);
  const Head head = [&](const Tensor& state) { return logits_of(model, state); };
  const auto add = [&](const ProbeSequence& sequence) {
    const RltPass pass(model, sequence.input.tokens_BT);
    const std::vector<Tensor> states = {pass.e_BTD(), pass.run()};
    for (std::int64_t loop = 0; loop < 2; ++loop) {
      const auto& state = states[static_cast<std::size_t>(loop)];
      trajectory.add_state(loop, state);
      if (options.probes.contains(Probe::kLogitLens))
        lens.add(loop, state, head, sequence.targets_S);
    }
    trajectory.end_sequence(sequence.positions());
    if (options.probes.contains(Probe::kLogitLens)) lens.end_sequence(sequence.targets_S);
  };
  if (!over_all(sequences, options, "states", add)) return false;
  write_path(trajectory.path(), nullptr, options, result.rows);
  if (options.probes.contains(Probe::kLogitLens)) write_lens(lens, "", result.rows);
  return true;
}

void write_interaction(const InteractionMatrix& matrix, const Occurrences& occurrences,
                       std::int64_t trained_loops, std::vector<ProbeRow>& rows) {
  for (std::size_t i = 0; i < matrix.size; ++i) {
    const auto from = occurrences[i];
    for (std::size_t j = i + 1; j < matrix.size; ++j) {
      const auto to = occurrences[j];
      ProbeRow row{.probe = Probe::kInteraction,
                   .site = to.block,
                   .loop = Writer::loop_of(to.loop),
                   .value = matrix.at(i, j),
                   .from = from.block,
                   .from_loop = Writer::loop_of(from.loop),
                   .change = matrix.change[i * matrix.size + j]};
      if (from.loop > 0 && to.loop > 0) row.lag = to.loop - from.loop;
      rows.push_back(std::move(row));
    }
  }
  const auto curve = lag_curve(matrix, occurrences, trained_loops);
  std::int64_t pairs = 0;
  for (const auto& mean : curve) {
    rows.push_back({.probe = Probe::kInteraction,
                    .site = "lag",
                    .lag = mean.lag,
                    .value = mean.value,
                    .pairs = mean.pairs});
    if (mean.lag > 0) pairs += mean.pairs;
  }
  if (pairs > 0)
    rows.push_back({.probe = Probe::kInteraction,
                    .site = "lags_from_1",
                    .value = mean_from_lag_1(curve),
                    .pairs = pairs});
}

bool run_interaction(const LoopedLm& model, const ProbeSequences& sequences,
                     const DiagnosisOptions& options, Diagnosis& result) {
  const bool whole = options.probes.contains(Probe::kInteraction);
  bool answers = options.probes.contains(Probe::kResponse);
  if (answers) {
    const auto needed = loops_for_response(model.config, options.trained_loops);
    if (options.loops < needed) {
      const auto why = fmt::format(
          "response: skips begin beyond the depth of training and must end before the last loop, "
          "which takes --loops {} or more here",
          needed);
      require(options.leave_out, "{}; got {}", why, options.loops);
      result.notes.push_back(why + "; left out");
      answers = false;
    }
  }
  if (!whole && !answers) return true;
  const auto chosen = first_positions(sequences, options.interaction_positions);
  result.interaction_positions = chosen.positions;
  Interaction interaction(model, options.loops);
  if (!over_all(chosen, options, "interaction",
                [&](const ProbeSequence& sequence) { interaction.add(sequence); }))
    return false;
  const auto matrix = interaction.matrix();
  const auto& occurrences = interaction.occurrences();
  if (whole) write_interaction(matrix, occurrences, options.trained_loops, result.rows);
  if (!answers) return true;
  const auto answer = response(matrix, occurrences, options.trained_loops);
  Writer(result.rows).by_block(Probe::kResponse, occurrences, answer->value, answer->last_skip + 1);
  result.rows.push_back({.probe = Probe::kResponse, .site = "terminal", .value = answer->terminal});
  return true;
}

bool run_gradients(const LoopedLm& model, const ProbeSequences& sequences,
                   const DiagnosisOptions& options, Diagnosis& result) {
  if (!options.probes.contains(Probe::kGradientFlow)) return true;
  const double numbers = gradient_flow_weights(model, options.loops);
  const bool with_weights = numbers <= options.most_gradient_numbers;
  if (!with_weights)
    result.notes.push_back(
        fmt::format("gradient_flow: gradients of the weights by loop would take {}; only those of "
                    "the states are given",
                    bytes(numbers * 4)));
  GradientFlow flow(model, options.loops, with_weights);
  if (!over_all(sequences, options, "gradients",
                [&](const ProbeSequence& sequence) { flow.add(sequence); }))
    return false;
  const auto norms = flow.norms();
  Writer writer(result.rows);
  writer.by_loop(Probe::kGradientFlow, "state", norms.state, 0);
  writer.by_loop(Probe::kGradientFlow, "weights", norms.weights, 1);
  return true;
}

bool run_spectrum(const LoopedLm& model, const ProbeSequences& sequences,
                  const DiagnosisOptions& options, Diagnosis& result) {
  if (!options.probes.contains(Probe::kSpectralRadius)) return true;
  const auto chosen = first_sequences(sequences, options.jacobians);
  result.jacobians = chosen.count;
  const auto exact = in_double(model);
  SpectralRadius radius(exact, options.loops, JacobianSite::kLast);
  if (!over_all(chosen, options, "spectral radius",
                [&](const ProbeSequence& sequence) { radius.add(sequence); }))
    return false;
  double settled = 0;
  std::int64_t loop = 0;
  for (const auto& mean : radius.means()) {
    result.rows.push_back({.probe = Probe::kSpectralRadius,
                           .site = "loop",
                           .loop = ++loop,
                           .value = mean.value,
                           .converged = mean.converged});
    settled += mean.converged;
  }
  const auto all = static_cast<double>(options.loops);
  if (settled < all)
    result.notes.push_back(fmt::format(
        "spectral_radius: {:.0f} % of the iterations had not settled to a millionth after {} "
        "products; their values are the largest seen so far",
        100 * (1 - settled / all), SpectrumLimits{}.iterations));
  return true;
}

}  // namespace

Diagnosis diagnose(const Model& model, const ProbeSequences& sequences,
                   const DiagnosisOptions& options) {
  Diagnosis result;
  bool done = false;
  if (const auto* rlt = std::get_if<Rlt>(&model)) {
    done = run_passes(*rlt, sequences, options, result);
  } else {
    const auto& looped = std::get<LoopedLm>(model);
    done = run_passes(looped, sequences, options, result) &&
           run_interaction(looped, sequences, options, result) &&
           run_gradients(looped, sequences, options, result) &&
           run_spectrum(looped, sequences, options, result);
  }
  result.interrupted = !done;
  if (!done) result.rows.clear();
  return result;
}

}  // namespace rondo
