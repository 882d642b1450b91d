// A diagnosis as it is printed and kept.
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "diagnose/diagnosis.h"

namespace rondo {

/// `rows[]{probe, site, loop, lag, value}` with null where a key means nothing or a value is no
/// number; further keys where a row has them: from, from_loop, change, pairs, converged.
Json rows_json(const std::vector<ProbeRow>& rows);

/// The rows for people. The pairs of an interaction are left out: they are a matrix.
TextTable rows_table(const std::vector<ProbeRow>& rows);

}  // namespace rondo
