// What a run will cost, said before it starts, and refused when the machine cannot bear it.
#pragma once

#include <string>

#include "base/files.h"
#include "config/config.h"
#include "cost/machine_speed.h"

namespace rondo {

/// Facts known before the first step.
struct Preflight {
  std::int64_t parameters = 0;
  double tokens = 0, tokens_per_parameter = 0;  ///< per non-embedding parameter
  double epochs = 0;                            ///< 0 for a task that has no end
  double flops = 0;                             ///< of the whole run: train_matmul × tokens
  double memory_bytes = 0;                      ///< estimated peak
  double disk_bytes = 0;                        ///< of the checkpoints kept
  double roof_gflops = 0;
  double seconds = 0;     ///< estimated
  bool measured = false;  ///< by measurements of this machine, not by a share
};

/// Computes the facts. `training_tokens` is the size of the training data, 0 = without end;
/// `sequence_tokens` are those of a sequence in the mean, 0 = data.sequence_length. With a roof the
/// time is estimated: from the cached measurement of this machine and config.engine.threads threads
/// if there is one (cost/machine_speed.h), else as a share of the speed of large products with the
/// library that the config names, which becomes the one in use.
Preflight preflight(const Config& config, double training_tokens, double roof_gflops,
                    double sequence_tokens = 0);

/// The speed of this machine with so many threads: cached, or measured (three seconds; sets the
/// threads) and then cached, unless other processes disturbed it. `anew` measures in any case. A
/// cache that cannot be written is a note, not an error.
MachineSpeed measured_machine_speed(std::int64_t threads, bool anew);

/// The facts as a few lines for people.
std::string preflight_text(const Config& config, const Preflight& facts);

/// Throws an input error when memory or disk does not suffice.
void refuse_if_too_large(const Config& config, const Preflight& facts, const fs::path& out);

}  // namespace rondo
