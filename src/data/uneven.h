// Sequences of different lengths without what fills the short ones up.
#pragma once

#include "data/batches.h"

namespace rondo {

/// Sequences one after the other: `batch` has one row and no keys.
struct UnevenBatch {
  Batch batch;
  std::vector<std::int64_t> lengths;  ///< falling
};

/// Each sequence up to its last target (at least one position): what comes after it, nothing is
/// learned from. Of the sequences sorted by length, `together` at a time go on for as long as the
/// longest of them, so that products come in fewer shapes, each of which is compiled once. For
/// causal models, without documents.
UnevenBatch without_filling(const Batch& batch, std::int64_t together);

}  // namespace rondo
