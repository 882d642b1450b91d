// The published curves as a rule for ours: the same in distribution, not point by point.
#include "plan/rlt_course_claim.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "plan/evidence.h"

namespace rondo {
namespace {

constexpr std::size_t kSeeds = 3;

/// Our runs of a model beside its published ones, to where the first of those ends.
struct CourseMatch {
  std::int64_t end = 0;
  std::int64_t steps = 0, near = 0;        ///< published validations, and those where ours agree
  std::size_t learned = 0, published = 0;  ///< seeds with 99 % right by the end
};

/// Nothing without a published run, or with fewer than three seeds of ours that go that far.
std::optional<CourseMatch> match_course(const RltResult& result) {
  const auto published = rlt_published_runs(result.model);
  if (published.empty()) return std::nullopt;
  CourseMatch match{.end = std::numeric_limits<std::int64_t>::max()};
  for (const auto& run : published) match.end = std::min(match.end, run.course.rbegin()->first);
  std::vector<const RltCourse*> ours;
  for (const auto* seed : seeds_under_way(result))
    if (seed->course.contains(match.end)) ours.push_back(&seed->course);
  if (ours.size() < kSeeds) return std::nullopt;

  const auto learned = [&](const RltCourse& course) {
    const auto step = solved_by(course);
    return step && *step <= match.end ? 1U : 0U;
  };
  for (const auto& run : published) match.published += learned(run.course);
  for (const auto* course : ours) match.learned += learned(*course);
  for (const auto& [step, accuracy] : published.front().course) {
    if (step > match.end) break;
    std::vector<double> values;
    for (const auto* course : ours)
      if (const auto at = course->find(step); at != course->end())
        values.push_back(100 * at->second);
    const auto here = over_seeds(values), there = rlt_published_at(result.model, step);
    ++match.steps;
    // Two standard errors of 768 strings at chance; guessing one answer gives 48 or 52 %.
    constexpr double kPoints = 4;
    if (here && there && here->low <= there->high + kPoints && there->low <= here->high + kPoints)
      ++match.near;
  }
  return match;
}

}  // namespace

Judgement judge_parity_course(std::span<const RltResult> results, std::int64_t layers) {
  Claim claim{
      .name = "parity-course",
      .claim = "parity is learned when the authors' runs learn it",
      .rule =
          "For every model with three seeds here, to where the first of its three published "
          "curves ends: at nine of ten published validations the ranges over seeds overlap "
          "or lie within 4 points, and as many seeds, give or take one, have had 99 % "
          "right."};
  if (layers != kRltPublishedLayers)
    return Evidence::untestable(claim, "the published curves are those of eight layers");
  Evidence evidence(kSeeds);
  bool holds = true, any = false;
  for (const auto& result : results) {
    if (result.task != "parity") continue;
    const auto match = match_course(result);
    if (!match) continue;
    any = true;
    holds = holds && 10 * match->near >= 9 * match->steps &&
            match->learned + 1 >= match->published && match->published + 1 >= match->learned;
    evidence.note(fmt::format("{} near at {} of {} steps, learned by {}: {} seeds (published {})",
                              result.model, match->near, match->steps, match->end, match->learned,
                              match->published));
  }
  if (!any) return Evidence::untestable(claim, "no model has three seeds that go that far");
  return evidence.judged(claim, holds);
}

}  // namespace rondo
