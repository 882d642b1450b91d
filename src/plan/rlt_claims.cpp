// The claims of arXiv 2610.07591 and the rules that they are judged by. The rules are part of the
// program: they were fixed before the runs that they judge. Lengths are the paper's; where shorter
// strings are trained on, they stand for the same multiple of the longest of those.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/evidence.h"
#include "plan/rlt_course_claim.h"
#include "plan/rlt_study.h"

namespace rondo {
namespace {

const std::vector<std::string> kSplits = {"4+4", "5+3", "6+2", "7+1", "8+0"};
constexpr const char* kTransformer = "transformer 8";

/// What is judged: results, and the splits that their depth has.
struct RltJudged {
  std::span<const RltResult> results;
  std::vector<std::string> splits;
};

/// Looks numbers up.
class RltEvidence : public Evidence {
 public:
  explicit RltEvidence(std::span<const RltResult> results) : Evidence(3), results_(results) {}

  /// Mean in per cent; NaN, remembered as missing, where fewer than three seeds have it.
  OverSeeds get(const std::string& task, const std::string& model, std::int64_t length) {
    const auto found = measured(results_, {.task = task, .model = model, .length = length});
    if (found && found->seeds >= seeds()) {
      note(fmt::format("{} {:.1f}", model, found->mean));
      return *found;
    }
    miss(fmt::format("{} of {}{}", task, model,
                     length == 0 ? " (validation)" : fmt::format(" at {}", length)));
    return kNotMeasured;
  }

 private:
  std::span<const RltResult> results_;
};

bool near_level(double value, double level, double points) {
  return std::abs(value - level) <= points;
}

Judgement parity_holds(const RltJudged& study) {
  Claim claim{
      .name = "parity-length",
      .claim =
          "RLT-1 holds parity far beyond the training lengths, while the transformer and RLT-0 "
          "of every split are at chance",
      .rule =
          "At 256 bits, trained to 40: the best RLT-1 split with a decoder has a mean of 99 % or "
          "more; the transformer and every RLT-0 split lie within 5 points of 50 %."};
  RltEvidence evidence(study.results);
  double best = 0;
  for (const auto& split : study.splits)
    if (split != "8+0") best = std::max(best, evidence.get("parity", "RLT-1 " + split, 256).mean);
  bool chance = near_level(evidence.get("parity", kTransformer, 256).mean, 50, 5);
  for (const auto& split : study.splits)
    chance = near_level(evidence.get("parity", "RLT-0 " + split, 256).mean, 50, 5) && chance;
  return evidence.judged(claim, best >= 99 && chance);
}

Judgement parity_splits(const RltJudged& study) {
  Claim claim{.name = "parity-splits",
              .claim = "parity is best with one or three decoder layers",
              .rule =
                  "At 256 bits the means of RLT-1 5+3 and 7+1 are both above those of 4+4, 6+2 "
                  "and 8+0."};
  RltEvidence evidence(study.results);
  std::vector<double> mean;
  for (const auto& split : kSplits)
    mean.push_back(evidence.get("parity", "RLT-1 " + split, 256).mean);
  return evidence.judged(claim, std::min(mean[1], mean[3]) > std::max({mean[0], mean[2], mean[4]}));
}

Judgement swaps_feedback(const RltJudged& study) {
  Claim claim{
      .name = "swaps-feedback",
      .claim = "S5 swaps need feedback at every token: with chunks of four accuracy falls",
      .rule = "At 64 elements, trained at 32: RLT-2/4 4+4 is at least 20 points below RLT-1 4+4."};
  RltEvidence evidence(study.results);
  const double token = evidence.get("s5-swaps", "RLT-1 4+4", 64).mean;
  const double chunk = evidence.get("s5-swaps", "RLT-2/4 4+4", 64).mean;
  return evidence.judged(claim, token - chunk >= 20);
}

Judgement swaps_chunk_split(const RltJudged& study) {
  Claim claim{.name = "swaps-chunk-split",
              .claim = "with chunks of four, S5 swaps fall less with 5+3 than with 4+4",
              .rule = "At 64 elements, trained at 32: RLT-2/4 5+3 is above RLT-2/4 4+4."};
  RltEvidence evidence(study.results);
  const double deep = evidence.get("s5-swaps", "RLT-2/4 4+4", 64).mean;
  const double shallow = evidence.get("s5-swaps", "RLT-2/4 5+3", 64).mean;
  return evidence.judged(claim, shallow > deep);
}

Judgement swaps_depth(const RltJudged& study) {
  Claim claim{.name = "swaps-depth",
              .claim = "deeper decoders help S5 swaps",
              .rule =
                  "At 512 elements the means of RLT-1 fall from 4+4 to 5+3, 6+2 and 7+1, and "
                  "4+4 is at least 10 points above the last of these."};
  RltEvidence evidence(study.results);
  std::vector<double> mean;
  for (const auto& split : study.splits)
    if (split != "8+0") mean.push_back(evidence.get("s5-swaps", "RLT-1 " + split, 512).mean);
  return evidence.judged(
      claim, std::is_sorted(mean.rbegin(), mean.rend()) && mean.front() - mean.back() >= 10);
}

Judgement chunk_parity(const RltJudged& study) {
  Claim claim{.name = "chunk-parity",
              .claim = "chunks of four keep parity only with a deep decoder",
              .rule =
                  "At 64 bits RLT-2/4 4+4 has a mean of 95 % or more, and every other RLT-2/4 "
                  "split is below 95 %."};
  RltEvidence evidence(study.results);
  const double deep = evidence.get("parity", "RLT-2/4 4+4", 64).mean;
  double others = 0;
  for (const auto& split : study.splits)
    if (split != "4+4")
      others = std::max(others, evidence.get("parity", "RLT-2/4 " + split, 64).mean);
  return evidence.judged(claim, deep >= 95 && others < 95);
}

Judgement mod5_beats(const RltJudged& study, const std::string& task, std::int64_t length) {
  Claim claim{.name = task,
              .claim = fmt::format("{} at length {} is solved better than by the transformer", task,
                                   length),
              .rule = fmt::format(
                  "At {} the RLT-1 split with the best mean is above the transformer by 10 "
                  "points or more, and by more than the sum of their sample standard deviations.",
                  length)};
  RltEvidence evidence(study.results);
  const auto plain = evidence.get(task, kTransformer, length);
  OverSeeds best;
  for (const auto& split : study.splits) {
    const auto one = evidence.get(task, "RLT-1 " + split, length);
    if (one.mean > best.mean) best = one;
  }
  const double apart = best.mean - plain.mean;
  return evidence.judged(claim, apart >= 10 && apart > best.sd.value_or(0) + plain.sd.value_or(0));
}

Judgement s5_hard(const RltJudged& study) {
  Claim claim{.name = "s5-hard",
              .claim = "S5 with all 120 elements stays hard for every model",
              .rule =
                  "After the last step no RLT-1 split and no transformer has a validation mean "
                  "above 10 %."};
  RltEvidence evidence(study.results);
  double best = evidence.get("s5", kTransformer, 0).mean;
  for (const auto& split : study.splits)
    best = std::max(best, evidence.get("s5", "RLT-1 " + split, 0).mean);
  return evidence.judged(claim, best <= 10);
}

Judgement addition(const RltJudged& study) {
  Claim claim{.name = "addition",
              .claim = "addition extrapolates for nobody",
              .rule =
                  "The transformer reaches 95 % in validation (else not testable), and at 32 "
                  "digits no RLT-1 split and no transformer has a mean of 30 % or more."};
  RltEvidence evidence(study.results);
  const double learned = evidence.get("addition", kTransformer, 0).mean;
  double best = evidence.get("addition", kTransformer, 32).mean;
  for (const auto& split : study.splits)
    best = std::max(best, evidence.get("addition", "RLT-1 " + split, 32).mean);
  if (evidence.complete() && learned < 95)
    return evidence.untestable(
        claim, fmt::format("the transformer has not learned it: {:.1f} % in validation", learned));
  return evidence.judged(claim, best < 30);
}

}  // namespace

std::vector<Judgement> judge_rlt(std::span<const RltResult> results, std::int64_t layers) {
  RltJudged study{.results = results, .splits = {}};
  for (const auto& split : kSplits)
    if (has_split(split, layers)) study.splits.push_back(split);
  return {parity_holds(study),
          parity_splits(study),
          swaps_feedback(study),
          swaps_chunk_split(study),
          swaps_depth(study),
          chunk_parity(study),
          mod5_beats(study, "mod5-flat", 63),
          mod5_beats(study, "mod5-brackets", 64),
          s5_hard(study),
          addition(study),
          judge_parity_course(results, layers)};
}

}  // namespace rondo
