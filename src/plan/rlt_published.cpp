// Counts as published; the rest follows from them.
#include "plan/rlt_published.h"

#include <fmt/format.h>

#include "base/text.h"

namespace rondo {
namespace {

constexpr std::int64_t kEvery = 100;    // steps between two validations
constexpr std::int64_t kStrings = 768;  // of a validation
constexpr std::size_t kPublishedSeeds = 3;

/// `right`: strings right at step 100, 200, …
RltPublishedRun run(const char* model, std::int64_t seed, const std::vector<int>& right) {
  RltPublishedRun made{.model = model, .seed = seed, .course = {}};
  std::int64_t step = 0;
  for (const int count : right)
    made.course[step += kEvery] = static_cast<double>(count) / static_cast<double>(kStrings);
  return made;
}

/// And at so many validations more all of them.
std::vector<int> then(std::vector<int> right, std::size_t all_right) {
  right.insert(right.end(), all_right, static_cast<int>(kStrings));
  return right;
}

}  // namespace

std::optional<std::int64_t> solved_by(const RltCourse& course) {
  constexpr double kSolved = 0.99;
  for (const auto& [step, accuracy] : course)
    if (accuracy >= kSolved) return step;
  return std::nullopt;
}

const std::vector<RltPublishedRun>& rlt_published_runs() {
  static const std::vector<RltPublishedRun> runs = {
      run("RLT-1 4+4", 42, then({399, 399, 756}, 5)),
      run("RLT-1 4+4", 43, then({369, 386, 400, 369}, 2)),
      run("RLT-1 4+4", 44, {369, 369, 399, 369, 383}),
      run("RLT-1 5+3", 42, then({369, 379, 398, 768, 768, 369}, 4)),
      run("RLT-1 5+3", 43, {399, 369, 369, 361, 393, 399, 399}),
      run("RLT-1 5+3", 44, then({369, 369, 369, 370, 763}, 2)),
      run("RLT-1 6+2", 42, then({389, 399}, 11)),
      run("RLT-1 6+2", 43, then({369, 369, 365, 764}, 7)),
      run("RLT-1 6+2", 44, then({369, 369, 399, 369, 755}, 4)),
      run("RLT-1 7+1", 42, then({369, 399, 369, 391, 371}, 15)),
      run("RLT-1 7+1", 43, then({369, 399, 403, 731}, 11)),
      run("RLT-1 7+1", 44, then({369, 399, 399, 369}, 9)),
      run("RLT-1 8+0", 42, {369, 369, 383, 400, 357, 379, 397, 357, 399, 396,
                            603, 749, 760, 757, 764, 756, 767, 765, 765, 767}),
      run("RLT-1 8+0", 43, then({369, 399, 382, 373, 369, 369, 399, 512, 757, 768, 768, 765}, 8)),
      run("RLT-1 8+0", 44,
          {369, 369, 399, 404, 396, 398, 399, 371, 389, 419, 408, 461, 362, 502, 578}),
      run("transformer 8", 42, {371, 369, 398, 368, 370, 398, 401, 394, 394, 397,
                                401, 464, 513, 535, 623, 674, 719, 735, 732, 742}),
      run("transformer 8", 43, {369, 386, 369, 376, 370, 402, 370, 389, 387, 381,
                                489, 567, 601, 682, 690, 663, 729, 726, 747, 745}),
      run("transformer 8", 44, {369, 369, 399, 370, 377, 399, 357, 376, 422, 483,
                                466, 458, 487, 563, 536, 595, 642, 684, 695, 698}),
  };
  return runs;
}

std::vector<RltPublishedRun> rlt_published_runs(const std::string& model) {
  std::vector<RltPublishedRun> found;
  for (const auto& each : rlt_published_runs())
    if (each.model == model) found.push_back(each);
  return found;
}

std::optional<OverSeeds> rlt_published_at(const std::string& model, std::int64_t step) {
  std::vector<double> values;
  for (const auto& each : rlt_published_runs(model))
    if (const auto at = each.course.find(step); at != each.course.end())
      values.push_back(100 * at->second);
  if (values.size() < kPublishedSeeds) return std::nullopt;
  return over_seeds(values);
}

std::string rlt_published_solved(const std::string& model) {
  std::vector<std::string> steps;
  for (const auto& each : rlt_published_runs(model)) {
    const auto step = solved_by(each.course);
    steps.push_back(step ? std::to_string(*step)
                         : fmt::format("> {}", each.course.rbegin()->first));
  }
  return join(steps, " / ");
}

std::string rlt_published_selected(const std::string& model) {
  static const std::map<std::string, std::string> steps = {{"RLT-1 4+4", "900 / 1100 / 1400"},
                                                           {"RLT-1 5+3", "1600 / 2000 / 1000"},
                                                           {"RLT-1 6+2", "800 / 900 / 1200"},
                                                           {"RLT-1 7+1", "1500 / 1500 / 1100"},
                                                           {"transformer 8", "2000 / 1900 / 2000"}};
  const auto found = steps.find(model);
  return found == steps.end() ? std::string() : found->second;
}

}  // namespace rondo
