// From the `[data]` section of a recipe to training and validation sequences.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "config/config.h"
#include "data/batches.h"
#include "data/tokenizer.h"

namespace rondo {

/// Data ready to be trained on.
struct Dataset {
  std::shared_ptr<const Tokenizer> tokenizer;
  TrainingSet training;
  ValidationSet validation;     ///< all that is held out; see ValidationSet::spread
  std::uint64_t documents = 0;  ///< of the training part
  std::uint64_t validation_documents = 0;
  std::uint64_t text_bytes = 0;  ///< of training and validation together
  std::string sha256;            ///< of all files read; 64 hex digits, see docs/data.md
  std::string description;       ///< one line for people: tokens, documents, split
};

/// Opens what `data` names. Paths are taken from the working directory, else, where they begin with
/// data/ or recipes/, from what ships with the program. Throws input errors: nothing there, text
/// that is not UTF-8, shards of another vocabulary, too little data for one sequence.
Dataset open_dataset(const DataConfig& data);

}  // namespace rondo
