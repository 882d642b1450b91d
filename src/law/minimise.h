// Minimising an objective from one start or from many.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "law/form.h"
#include "law/objective.h"

namespace rondo {

/// Where a descent ended.
struct Minimum {
  std::vector<double> free;  ///< empty when the objective was not finite at the start
  double value = 0;          ///< infinity then
  double gradient_norm = 0;  ///< largest component
  std::string stop_reason;
};

/// Where a descent is given up; it takes some tens of iterations.
inline constexpr int kMostIterations = 1000;

/// BFGS with a Wolfe line search (Ceres) until nothing can be gained in double precision.
Minimum minimise(Objective& objective, std::vector<double> start, int iterations);

/// Free numbers of random start number `index`: uniform in the range that the form gives, or in its
/// logarithm for positive parameters. The same for every number of threads.
std::vector<double> random_start(const LawForm& form, const Objective& objective,
                                 std::uint64_t seed, std::uint64_t index);

/// Calls work(index, objective) for index 0 … count − 1 on `threads` threads, each with an
/// objective of its own. `done` is called now and then with how many are done. Stops at an
/// interrupt, and then throws an error of the work.
void in_parallel(const Objective& objective, int count, int threads,
                 const std::function<void(int, Objective&)>& work,
                 const std::function<void(int)>& done);

}  // namespace rondo
