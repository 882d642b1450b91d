// Judged claims on a page and in a file.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "plan/claims.h"
#include "report/data_table.h"

namespace rondo {

/// How many claims could be tested, and how many of these came out as published.
struct ClaimCount {
  std::size_t testable = 0, reproduced = 0;
};
ClaimCount count_claims(std::span<const Judgement> claims);

/// Every claim with its verdict, its rule and the numbers that decided; `numbers` says in a
/// sentence what these are.
std::string claims_section(std::span<const Judgement> claims, std::string_view numbers);

/// One row per claim.
DataTable claims_data(std::span<const Judgement> claims);

}  // namespace rondo
