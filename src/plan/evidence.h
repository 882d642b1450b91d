// What a claim is judged from: the numbers that were looked up, in words, and what was missing.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "plan/claims.h"
#include "plan/over_seeds.h"

namespace rondo {

/// Stands for what is missing: it compares as false with everything.
inline const OverSeeds kNotMeasured = {
    .mean = std::nan(""), .low = std::nan(""), .high = std::nan(""), .sd = {}, .seeds = 0};

/// Gathers numbers in words. A claim with a number missing is not testable.
class Evidence {
 public:
  /// Fewer seeds than these have no spread, and their numbers count as missing.
  explicit Evidence(std::size_t seeds) : seeds_(seeds) {}

  void note(const std::string& text) { notes_ += (notes_.empty() ? "" : "; ") + text; }
  void miss(std::string what) { missing_.push_back(std::move(what)); }

  [[nodiscard]] std::size_t seeds() const { return seeds_; }
  [[nodiscard]] bool complete() const { return missing_.empty(); }

  [[nodiscard]] Judgement judged(Claim claim, bool holds) const {
    if (complete())
      return {.claim = std::move(claim),
              .verdict = holds ? Verdict::kReproduced : Verdict::kNotReproduced,
              .why = notes_};
    const auto more = missing_.size() - 1;
    return untestable(std::move(claim),
                      fmt::format("{} seeds are needed; missing: {}{}", seeds_, missing_.front(),
                                  more > 0 ? fmt::format(" and {} more", more) : std::string()));
  }

  [[nodiscard]] static Judgement untestable(Claim claim, std::string why) {
    return {.claim = std::move(claim), .verdict = Verdict::kNotTestable, .why = std::move(why)};
  }

 private:
  std::size_t seeds_;
  std::vector<std::string> missing_;
  std::string notes_;
};

}  // namespace rondo
