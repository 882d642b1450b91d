// Titles and summaries.
#include "report/words.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "report/chart_parts.h"

namespace rondo {
namespace {

std::string metric_words(Metric metric) {
  switch (metric) {
    case Metric::kBitsPerByte:
      return "bits per byte";
    case Metric::kAccuracy:
      return "accuracy";
    case Metric::kLoss:
      break;
  }
  return "nats per token";
}

std::string plural(std::size_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

/// "a looped transformer of 3.3 M parameters, 10 layers deep (1 + 2 × 4 + 1)".
std::string model_words(const RunRecord& run) {
  const RunSummary& summary = run.summary;
  std::string text = "a model";
  if (run.config) {
    const bool plain = run.config->loops.forward == 1 &&
                       run.config->loops.sampler == Sampler::kFixed &&
                       run.config->model.injection == Injection::kNone;
    text = run.config->model.kind == ModelKind::kRlt ? "a recurrent looped transformer"
           : plain                                   ? "a transformer"
                                                     : "a looped transformer";
  }
  if (std::isfinite(summary.parameters.total))
    text += fmt::format(" of {} parameters", si(summary.parameters.total));
  if (std::isfinite(summary.effective_depth)) {
    text += fmt::format(", {} layers deep", summary.effective_depth);
    if (run.config && run.config->model.kind == ModelKind::kRlt) {
      text += fmt::format(" ({}\u00a0+\u00a0{})", run.config->model.encoder_layers,
                          run.config->model.decoder_layers);
    } else if (run.config) {
      // No-break spaces keep the sum on one line.
      text += fmt::format(" ({}\u00a0+\u00a0{}\u00a0×\u00a0{}\u00a0+\u00a0{})",
                          run.config->model.prelude_layers, run.config->model.core_layers,
                          run.config->loops.forward, run.config->model.coda_layers);
    }
  }
  return text;
}

std::string state_words(const RunRecord& run) {
  const auto step = fmt::format("{}", run.steps.empty() ? 0 : run.steps.back().step);
  switch (run.state) {
    case RunState::kRunning: {
      const std::string of = run.config ? fmt::format(" of {}", run.config->train.steps) : "";
      return fmt::format(" The run is still going: step {}{}.", step, of);
    }
    case RunState::kInterrupted:
      return fmt::format(" The run was stopped at step {} and can be resumed.", step);
    case RunState::kDiverged:
      return fmt::format(" The run diverged at step {}.", step);
    case RunState::kFailed:
    case RunState::kDead: {
      const std::string why =
          run.stops.empty() || run.stops.back().message.empty() || run.state == RunState::kDead
              ? ""
              : ": " + run.stops.back().message;
      return fmt::format(" The run {} at step {}{}.",
                         run.state == RunState::kFailed ? "failed" : "ended without a word", step,
                         why);
    }
    case RunState::kFinished:
      break;
  }
  return "";
}

/// Where the sweep is best, and what the deepest one costs.
std::string sweep_words(const RunRecord& run, Metric metric) {
  const auto& sweep = run.depth_sweep();
  if (sweep.size() < 2) return "";
  const double sign = metric == Metric::kAccuracy ? -1 : 1;
  const DepthPoint* best = nullptr;
  for (const auto& point : sweep)
    if (const double value = value_of(metric, point);
        std::isfinite(value) && (best == nullptr || sign * value < sign * value_of(metric, *best)))
      best = &point;
  if (best == nullptr) return "";
  const auto loops = static_cast<double>(best->loops);
  const bool trained =
      loops >= run.summary.trained_loops_min && loops <= run.summary.trained_loops_max;
  std::string text = fmt::format(" The depth sweep is best at {}, {} the trained range ({:.4f}",
                                 plural(static_cast<std::size_t>(best->loops), "loop"),
                                 trained ? "within" : "outside", value_of(metric, *best));
  const DepthPoint& last = sweep.back();
  if (last.loops != best->loops && std::isfinite(value_of(metric, last)))
    text += fmt::format("; {:.4f} at {} loops", value_of(metric, last), last.loops);
  return text + ").";
}

std::string run_summary(const RunTable& table) {
  const RunRecord& run = table.runs.front();
  const RunSummary& summary = run.summary;
  const Metric metric = final_metric(table);
  std::string text = fmt::format("{} is {}.", table.names.front(), model_words(run));
  if (std::isfinite(summary.steps)) {
    text += fmt::format(" In {} steps over {} tokens", summary.steps, count_text(summary.tokens));
    std::string cost;
    if (std::isfinite(summary.flops)) cost += si(summary.flops) + "FLOPs";
    if (std::isfinite(summary.wall_s))
      cost += (cost.empty() ? "" : ", ") + duration(summary.wall_s);
    if (!cost.empty()) text += fmt::format(" ({})", cost);
    const double value = value_of(metric, summary);
    if (std::isfinite(value))
      text += fmt::format(" it reached {} {} on held-out data.", decimal_text(value, 4),
                          metric_words(metric));
    else
      text += fmt::format(" it reached a training loss of {} nats per token.",
                          decimal_text(summary.train_loss_nats, 4));
  }
  return text + sweep_words(run, metric) + state_words(run);
}

/// The gap of the two best groups against the spread of their seeds.
std::string gap_words(const Spread& best, const Spread& next) {
  const double gap = std::abs(next.mean - best.mean);
  const double pooled = std::sqrt((best.sd * best.sd + next.sd * next.sd) / 2);
  if (std::isnan(pooled) || pooled <= 0)
    return fmt::format(" The gap of {:.4f} cannot be judged without more seeds.", gap);
  return fmt::format(" The gap of {:.4f} is {:.1f} times the spread between seeds.", gap,
                     gap / pooled);
}

std::string comparison_summary(const RunTable& table) {
  const Metric metric = final_metric(table);
  std::vector<const RunGroup*> order;
  for (const auto& group : table.groups)
    if (value_of(metric, group).count > 0) order.push_back(&group);
  std::string text = fmt::format("{} in {}.", plural(table.runs.size(), "run"),
                                 plural(table.groups.size(), "group"));
  if (order.empty()) return text + " None of them has a validation yet.";
  const double sign = metric == Metric::kAccuracy ? -1 : 1;
  std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
    return sign * value_of(metric, *a).mean < sign * value_of(metric, *b).mean;
  });
  const Spread& best = value_of(metric, *order.front());
  text += fmt::format(" {} has the {} {}, {} ({})", order.front()->name,
                      metric == Metric::kAccuracy ? "highest" : "fewest", metric_words(metric),
                      spread_text(best), plural(best.count, "seed"));
  if (order.size() > 1) {
    const Spread& next = value_of(metric, *order[1]);
    text += fmt::format("; next comes {} with {} ({}).", order[1]->name, spread_text(next),
                        plural(next.count, "seed"));
    text += gap_words(best, next);
  } else {
    text += ".";
  }
  std::size_t running = 0;
  for (const auto& run : table.runs) running += run.state == RunState::kRunning ? 1 : 0;
  if (running > 0) text += fmt::format(" {} still going.", plural(running, "run"));
  if (!table.warnings.empty()) text += " The notes below say where the comparison is uneven.";
  return text;
}

/// One group of several seeds.
std::string seeds_summary(const RunTable& table) {
  const RunGroup& group = table.groups.front();
  const Metric metric = final_metric(table);
  const Spread& spread = value_of(metric, group);
  std::string text =
      fmt::format("{} is {}, trained with {}.", group.name, model_words(table.runs.front()),
                  plural(group.runs.size(), "seed"));
  if (spread.count > 0)
    text += fmt::format(" {} of them reached {} {}.", spread.count, spread_text(spread),
                        metric_words(metric));
  return text;
}

}  // namespace

std::string count_text(double value) { return std::isnan(value) ? "–" : si(value); }

std::string decimal_text(double value, int decimals) {
  return std::isnan(value) ? "–" : fmt::format("{:.{}f}", value, decimals);
}

std::string title_of(const RunTable& table) {
  if (table.runs.size() == 1) return table.names.front();
  if (table.groups.size() > 4) return fmt::format("{} groups compared", table.groups.size());
  std::string text;
  for (std::size_t i = 0; i < table.groups.size(); ++i) {
    if (i > 0) text += i + 1 == table.groups.size() ? " and " : ", ";
    text += table.groups[i].name;
  }
  return text;
}

std::string summary_of(const RunTable& table) {
  if (table.runs.size() == 1) return run_summary(table);
  if (table.groups.size() == 1) return seeds_summary(table);
  return comparison_summary(table);
}

}  // namespace rondo
