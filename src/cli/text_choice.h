// The text that a command reads: the held-out or training part of a model's own, or what --data
// names.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "config/config.h"
#include "data/batches.h"
#include "data/tokenizer.h"
#include "eval/open_model.h"

namespace rondo {

/// What was asked for.
struct TextRequest {
  std::string data;                  ///< --data; empty: the model's own
  std::optional<std::string> split;  ///< --split: validation (default) or train
};

/// Throws an input error for a split that there is none of, or one of --data.
void check(const TextRequest& request);

/// Sequences, and what they are called in the rows.
struct TextChoice {
  ValidationSet sequences;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::string split;
};

/// Opens it for a model; `data` says how it is read and cut. Throws an input error for a tokenizer
/// with more ids than the model.
TextChoice choose_text(const TextRequest& request, const DataConfig& data,
                       const OpenedModel& model);

}  // namespace rondo
