// `train --profile`: where the time of a run's steps goes.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "tensor/profile.h"

namespace rondo {

/// Counts the parts of training steps and nothing between them. The first step is left out when
/// there are more: it compiles kernels and touches fresh memory.
class StepProfile {
 public:
  /// `steps` to count after the first; 0 = all.
  explicit StepProfile(std::int64_t steps) : wanted_(steps) {}
  ~StepProfile() { count_parts(false); }
  StepProfile(const StepProfile&) = delete;
  StepProfile& operator=(const StepProfile&) = delete;

  /// Around every step. `end` is true once: when all that was wanted has been counted.
  void begin();
  bool end(double seconds);
  /// At the end of the run: true when there is something to say that `end` has not announced.
  bool finish();

  /// Seconds per step by part, with the whole step and the number of steps.
  [[nodiscard]] Json json() const;
  /// The same as a table for people.
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] bool done() const { return wanted_ > 0 && seen_ > 1 && steps_ == wanted_; }

  std::int64_t wanted_;
  std::int64_t seen_ = 0, steps_ = 0;
  double seconds_ = 0;  ///< of the steps counted
  PartSeconds parts_{};
  bool announced_ = false;
};

}  // namespace rondo
