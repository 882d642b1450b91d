// Run folders as rows: sizes, loops, tokens and held-out loss of each finished run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "law/raw_table.h"

namespace rondo {

/// The runs of a folder as a table whose columns have our names; lines are 0 and each row has a
/// file of its own, the run's folder.
struct RunRows {
  RawTable table;
  std::vector<std::string> unusable;  ///< "runs/a (interrupted)", one a run left out
};

/// Reads config.toml and summary.json of each run, with all cores: ten thousand runs take seconds
/// where all their metrics would take minutes. A run that is not finished, has no held-out loss or
/// cannot be read is unusable.
RunRows read_runs(std::span<const fs::path> runs);

/// A sentence about the tokenizers of a table's run folders when there are several: nats per token
/// of different tokens do not compare. Empty otherwise; rows of files do not tell.
std::string tokenizer_note(const FitTable& table);

}  // namespace rondo
