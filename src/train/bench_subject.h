// A model in training that a benchmark can step at will.
#pragma once

#include "data/batches.h"
#include "model/model.h"
#include "train/bench_cases.h"
#include "train/optimizer.h"

namespace rondo {

/// Steps one after the other, as one round of a benchmark has them.
struct BenchRound {
  double median_s = 0, minimum_s = 0;  ///< of a step
  double flops_per_s = 0;              ///< matrices, causal attention and head over all its steps
  double faults = 0;                   ///< minor page faults of the process per step
  double other_cores = 0;              ///< cores that other processes kept busy meanwhile
  double step_bytes = 0;  ///< the most that tensors took at once besides weights and moments
};

/// Random bytes, random weights, and the recipe of a case.
class BenchSubject {
 public:
  explicit BenchSubject(const BenchCase& one);
  // The optimizer points into the model.
  BenchSubject(const BenchSubject&) = delete;
  BenchSubject& operator=(const BenchSubject&) = delete;

  /// Sets threads and library as the case wants them; before every use beside other subjects.
  void activate() const;
  /// Steps that compile kernels and touch memory; more of them where their loops differ.
  void warm_up();
  BenchRound round(int steps);

  [[nodiscard]] double tokens_per_step() const;

 private:
  /// Runs the next step; its FLOPs.
  double step();

  Config config_;
  TrainingSet data_;
  Model model_;
  Optimizer optimizer_;
  std::int64_t step_ = 0;
};

}  // namespace rondo
