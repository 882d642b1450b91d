// The search: for every pair (T, B) the best size, tokens being what the budget leaves.
#pragma once

#include <optional>
#include <vector>

#include "plan/problem.h"

namespace rondo {

/// The setting of lowest loss at these loops; nothing when the limits allow no size or the law is
/// finite nowhere. With `near` only sizes within a factor of 8 of it are looked at first; that is
/// ten times cheaper and enough where a neighbouring problem was solved before.
std::optional<Setting> best_size(const Problem& problem, const LawFunction& law, LoopCount loops,
                                 std::optional<double> near = {});

/// The best setting of every pair of whole numbers, lowest loss first; of equal losses the one that
/// costs less. Throws an error of the work when there is none.
std::vector<Setting> search_whole(const Problem& problem, const LawFunction& law,
                                  const LoopSpace& space);

/// The best setting with T and B real; nothing when there is none.
std::optional<Setting> best_real(const Problem& problem, const LawFunction& law,
                                 const LoopSpace& space);

}  // namespace rondo
