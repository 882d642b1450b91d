// What the recurrence paper (arXiv 2609.36636) lets one expect of the study, and the rules that it
// is judged by. The rules are part of the program: they were fixed before its models were trained.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/evidence.h"
#include "plan/recurrence_study.h"

namespace rondo {
namespace {

/// Looks numbers up.
class RecurrenceEvidence : public Evidence {
 public:
  explicit RecurrenceEvidence(std::span<const RecurrenceResult> results)
      : Evidence(2), results_(results) {}

  /// The rise of the loss beyond K; NaN, remembered as missing, where fewer than two seeds have it.
  OverSeeds rise(const std::string& layout, const std::string& form) {
    return take(layout, form, rise_of, "{} {:+.3f}");
  }

  /// Likewise a value of a probe; `format` takes the model's name and the value.
  OverSeeds probe(const std::string& layout, const std::string& form, const ProbeKey& key,
                  const std::string& format) {
    return take(
        layout, form, [&](const RecurrenceResult& result) { return probe_at(result, key); },
        format);
  }

 private:
  template <typename Value>
  OverSeeds take(const std::string& layout, const std::string& form, Value&& value,
                 const std::string& format) {
    const auto name = layout + " " + form;
    for (const auto& result : results_) {
      if (result.model.layout != layout || result.model.form != form) continue;
      const auto found = value(result);
      if (!found || found->seeds < seeds()) break;
      note(fmt::format(fmt::runtime(format), name, found->mean));
      return *found;
    }
    miss(name);
    return kNotMeasured;
  }

  std::span<const RecurrenceResult> results_;
};

double seed_range(const OverSeeds& over) { return over.high - over.low; }

/// Not higher than `base` by more than both ranges of seeds.
bool no_worse(const OverSeeds& one, const OverSeeds& base) {
  return one.mean <= base.mean + seed_range(one) + seed_range(base);
}

Judgement dense_degrades(std::span<const RecurrenceResult> results) {
  Claim claim{.name = "dense-state",
              .claim =
                  "a dense injection of the initial state degrades most beyond the trained "
                  "loops",
              .rule =
                  "At 4x3 the loss of the dense state rises more from K to 3K loops than that "
                  "of every other form, in the mean over the seeds."};
  RecurrenceEvidence evidence(results);
  const double dense = evidence.rise("4x3", "dense state").mean;
  double others = -INFINITY;
  for (const char* form : {"none", "channel state", "dense history 1", "branch gates", "adaLN"})
    others = std::fmax(others, evidence.rise("4x3", form).mean);
  return evidence.judged(claim, dense > others);
}

Judgement light_holds(std::span<const RecurrenceResult> results) {
  Claim claim{.name = "light-forms",
              .claim =
                  "light forms, a channel-wise state and branch gates, do not degrade more "
                  "than no conditioning",
              .rule =
                  "At 4x3 the loss of both rises from K to 3K by no more than without "
                  "conditioning plus the ranges over the seeds of the two compared."};
  RecurrenceEvidence evidence(results);
  const auto none = evidence.rise("4x3", "none");
  const auto channel = evidence.rise("4x3", "channel state");
  const auto gates = evidence.rise("4x3", "branch gates");
  return evidence.judged(claim, no_worse(channel, none) && no_worse(gates, none));
}

/// A probe's value from K to 3K, and whether it is expected to grow.
struct Course {
  const char* name;
  const char* probe;
  const char* site;
  bool grows;
};

Judgement steps_shrink(std::span<const RecurrenceResult> results) {
  Claim claim{.name = "smaller-steps-larger-state",
              .claim = "beyond the trained loops update and angle shrink while the variance grows",
              .rule =
                  "Without conditioning, at 4x3 and at 2x6: relative update and angle of the "
                  "last of 3K loops are below those of loop K, and the variance of the state "
                  "after 3K is above that after K."};
  RecurrenceEvidence evidence(results);
  const std::vector<Course> courses = {{"update", "update", "loop", false},
                                       {"angle", "angle", "loop", false},
                                       {"variance", "variance", "state", true}};
  bool holds = true;
  const std::vector<std::pair<std::string, std::int64_t>> layouts = {{"4x3", 3}, {"2x6", 6}};
  const auto at = [&](const std::string& layout, const Course& course, std::int64_t loop) {
    return evidence
        .probe(layout, "none", {.probe = course.probe, .site = course.site, .loop = loop},
               fmt::format("{{}} {} after {} {{:.3g}}", course.name, loop))
        .mean;
  };
  for (const auto& [layout, trained] : layouts)
    for (const auto& course : courses) {
      const double before = at(layout, course, trained);
      const double after = at(layout, course, kRecurrenceReach * trained);
      holds = holds && (course.grows ? after > before : after < before);
    }
  return evidence.judged(claim, holds);
}

Judgement history_windows(std::span<const RecurrenceResult> results) {
  Claim claim{.name = "history-windows",
              .claim =
                  "a dense history of one step is safe beyond the trained loops, wider windows "
                  "are not",
              .rule =
                  "At 2x6 the loss rises from K to 3K more with a window of 4 than of 2 and "
                  "more with 2 than with 1, and with 1 by no more than without conditioning "
                  "plus the ranges over the seeds of the two."};
  RecurrenceEvidence evidence(results);
  const auto none = evidence.rise("2x6", "none");
  const auto one = evidence.rise("2x6", "dense history 1");
  const auto two = evidence.rise("2x6", "dense history 2");
  const auto four = evidence.rise("2x6", "dense history 4");
  return evidence.judged(claim, four.mean > two.mean && two.mean > one.mean && no_worse(one, none));
}

Judgement influence(std::span<const RecurrenceResult> results) {
  Claim claim{.name = "channel-keeps-influence",
              .claim =
                  "with a channel-wise state, loops beyond the trained ones depend on each "
                  "other several times as much as with a dense one",
              .rule =
                  "At 4x3 and 3K loops the mean interaction over all pairs that lie a loop or "
                  "more apart is at least twice that of the dense state (the paper: about seven "
                  "times)."};
  RecurrenceEvidence evidence(results);
  const ProbeKey key{.probe = "interaction", .site = "lags_from_1"};
  const double channel = evidence.probe("4x3", "channel state", key, "{} {:.4f}").mean;
  const double dense = evidence.probe("4x3", "dense state", key, "{} {:.4f}").mean;
  return evidence.judged(claim, channel >= 2 * dense);
}

}  // namespace

std::vector<Judgement> judge_recurrence(std::span<const RecurrenceResult> results) {
  return {dense_degrades(results), light_holds(results), steps_shrink(results),
          history_windows(results), influence(results)};
}

}  // namespace rondo
