// Claims of a paper, the rules that they are judged by, and what came out. A rule is part of the
// program, so that it stands before anything is trained.
#pragma once

#include <string>
#include <string_view>

namespace rondo {

enum class Verdict { kReproduced, kNotReproduced, kNotTestable };

inline std::string_view word(Verdict verdict) {
  if (verdict == Verdict::kReproduced) return "reproduced";
  return verdict == Verdict::kNotReproduced ? "not reproduced" : "not testable";
}

/// A claim and how it is judged.
struct Claim {
  std::string name;
  std::string claim;  ///< what the paper says
  std::string rule;   ///< when it counts as reproduced
};

/// A claim judged.
struct Judgement {
  Claim claim;
  Verdict verdict = Verdict::kNotTestable;
  std::string why;  ///< the numbers that decided, or what is missing
};

}  // namespace rondo
