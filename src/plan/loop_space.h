// The loops that a plan may choose: B ≤ T ≤ the largest T, some of them fixed, as whole numbers for
// the plan and as real ones for its exponents.
#pragma once

#include <vector>

#include "cost/loops.h"
#include "plan/limits.h"

namespace rondo {

/// A closed interval; empty when low > high.
struct Span {
  double low, high;
  [[nodiscard]] bool empty() const { return !(low <= high); }
};

/// Pairs (T, B) that the limits on loops allow.
class LoopSpace {
 public:
  /// `largest` bounds T where --loops-max and --loops are not given. Throws an input error when no
  /// pair of whole numbers is left, saying which limits exclude each other.
  LoopSpace(const Limits& limits, double largest);

  /// Real T.
  [[nodiscard]] Span forward() const;
  /// Real B at this T.
  [[nodiscard]] Span backward(double forward) const;
  /// Every pair of whole numbers, by T, then B.
  [[nodiscard]] const std::vector<LoopCount>& whole() const { return whole_; }
  /// The largest T.
  [[nodiscard]] double largest() const { return largest_; }

 private:
  Limits limits_;
  double largest_;
  std::vector<LoopCount> whole_;
};

}  // namespace rondo
