// The runs of blocks that make up a pass, in the order in which they run: every pass of the loop
// through a core block is an occurrence of its own.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/looped_lm.h"

namespace rondo {

/// One run of a block.
struct Occurrence {
  std::string block;      ///< "prelude.0", "core.1", "coda.0"
  std::int64_t loop = 0;  ///< 1 … r of a core block, else 0
};

/// The occurrences of a pass of `loops` loops.
class Occurrences {
 public:
  Occurrences(const ModelConfig& config, std::int64_t loops)
      : prelude_(config.prelude_layers),
        core_(config.core_layers),
        coda_(config.coda_layers),
        loops_(loops) {}

  [[nodiscard]] std::size_t size() const { return at(prelude_ + loops_ * core_ + coda_); }
  [[nodiscard]] std::int64_t loops() const { return loops_; }

  /// Place of a block's run.
  [[nodiscard]] std::size_t place(const BlockRun& run) const;
  [[nodiscard]] Occurrence operator[](std::size_t place) const;

  /// Layers of the model, p + s + c.
  [[nodiscard]] std::size_t layers() const { return at(prelude_ + core_ + coda_); }
  [[nodiscard]] std::size_t prelude() const { return at(prelude_); }
  [[nodiscard]] std::size_t core() const { return at(core_); }
  [[nodiscard]] std::size_t coda() const { return at(coda_); }
  /// Place of the first block of loop `loop`, from 1; loops() + 1 is that of the coda.
  [[nodiscard]] std::size_t first_of_loop(std::int64_t loop) const {
    return at(prelude_ + (loop - 1) * core_);
  }

 private:
  static std::size_t at(std::int64_t place) { return static_cast<std::size_t>(place); }

  std::int64_t prelude_, core_, coda_, loops_;
};

}  // namespace rondo
