// Loss on held-out text, after any number of loops at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "config/config.h"
#include "data/batches.h"
#include "model/model.h"
#include "model/weights.h"

namespace rondo {

/// Training sequences are numbered from 0; random initial states of evaluation use other streams.
inline constexpr std::uint64_t kEvaluationKeys = std::uint64_t{1} << 62;

/// Loss of a set of sequences after `loops` loops.
struct LossAt {
  std::int64_t loops = 0;
  double loss_nats = 0;      ///< mean over predicted tokens
  double bits_per_byte = 0;  ///< summed nats / ln 2 / bytes of the predicted tokens
  double stderr_nats = 0;    ///< standard error of the mean over sequences
  std::int64_t tokens = 0;   ///< predicted tokens
};

/// Loss of `model` on `data` after each number of loops in `loops` (each ≥ 1, ascending): one pass
/// up to the largest, read out on the way; for an RLT just 1. Stops early, with nothing, when an
/// interrupt is wished.
std::vector<LossAt> evaluate_loss(const Model& model, const ValidationSet& data,
                                  std::span<const std::int64_t> loops);

/// The loop counts of a depth sweep: 1 … 4T one by one while that is at most 32 of them, else about
/// 32 spread evenly over the ratio, always with 1, T, 2T and 4T.
std::vector<std::int64_t> depth_sweep_loops(std::int64_t trained_loops);

/// Whether it is a plain transformer: one loop, always, with nothing that belongs to looping.
bool is_plain(const Config& config);

/// The loop counts that a model is evaluated at unless told otherwise: a depth sweep when it loops,
/// one loop when it is a plain transformer or an RLT. On the timestep grid "prefix" it ends with
/// the trained ones; on "rescaled", where each depth takes a pass of its own, it has fewer of them.
std::vector<std::int64_t> default_loops(const Config& config);

/// Throws an input error when loop counts are given on the command line for a model that has none.
void refuse_loops_of_rlt(const Config& config, bool given);

/// Makes a model go by the timestep grid that --timestep-grid names. Throws input errors.
void choose_timestep_grid(StoredModel& stored, const std::string& grid);

/// Throws an input error unless a loop count given on the command line can be run.
void check_loops(std::int64_t loops);

/// The tensors of a batch.
LoopedInput make_input(const Batch& batch);
/// Targets as one row, int64 [N]; kNoTarget stays −1.
Tensor make_targets(const Batch& batch);

}  // namespace rondo
